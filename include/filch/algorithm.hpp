// All algorithms.
#pragma once

#include <filch/all_of.hpp>
#include <filch/compare.hpp>
#include <filch/contains.hpp>
#include <filch/counted.hpp>
#include <filch/filter.hpp>
#include <filch/find.hpp>
#include <filch/flatten.hpp>
#include <filch/for_each.hpp>
#include <filch/for_extents.hpp>
#include <filch/for_index.hpp>
#include <filch/group_by.hpp>
#include <filch/histogram.hpp>
#include <filch/integer_sort.hpp>
#include <filch/merge.hpp>
#include <filch/random_shuffle.hpp>
#include <filch/rearrange.hpp>
#include <filch/reduce.hpp>
#include <filch/replace.hpp>
#include <filch/reproducible.hpp>
#include <filch/scan.hpp>
#include <filch/set_operations.hpp>
#include <filch/sort.hpp>
#include <filch/transform.hpp>
#include <filch/uninitialized.hpp>
#include <filch/zip.hpp>
