// Filch: recursive, irregular code in parallel at the cost of a function call.
#pragma once

#include <filch/blocking.hpp>
#include <filch/default_scheduler.hpp>
#include <filch/for_index.hpp>
#include <filch/join.hpp>
#include <filch/mutex.hpp>
#include <filch/poll.hpp>
#include <filch/scope.hpp>
#include <filch/stay.hpp>
#include <filch/version.hpp>
#include <filch/worker.hpp>
#include <filch/worker_local.hpp>

/// The interface for users. filch::detail belongs to the library.
namespace filch::inline FILCH_ABI {}
