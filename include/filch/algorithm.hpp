// All algorithms.
#pragma once

#include <filch/find.hpp>
#include <filch/for_each.hpp>
#include <filch/for_extents.hpp>
#include <filch/for_index.hpp>
#include <filch/reduce.hpp>
#include <filch/transform.hpp>
