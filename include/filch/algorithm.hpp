// All algorithms.
#pragma once

#include <filch/adjacent_difference.hpp>
#include <filch/all_of.hpp>
#include <filch/copy_if.hpp>
#include <filch/filter.hpp>
#include <filch/find.hpp>
#include <filch/for_each.hpp>
#include <filch/for_extents.hpp>
#include <filch/for_index.hpp>
#include <filch/group_by.hpp>
#include <filch/histogram.hpp>
#include <filch/minmax.hpp>
#include <filch/reduce.hpp>
#include <filch/reproducible.hpp>
#include <filch/scan.hpp>
#include <filch/transform.hpp>
#include <filch/zip.hpp>
