#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/compare/row.h"
#include "scheduler/deadline.h"
#include "scheduler/problem.h"
#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// An algorithm to compare, which outlives the request, and its options.
struct Request {
  const Algorithm* algorithm = nullptr;
  Options options;
};

struct CompareOptions {
  std::uint64_t seed = 0;
  using Show = std::function<void(std::string_view)>;
  /// (optional) Returns the function that shows the progress of the algorithm of this name; the
  /// function is destroyed when the algorithm has ended.
  std::function<Show(const std::string&)> progress = {};
};

/// Runs the algorithms one after the other and returns a row for each, in their order, then one of
/// data parallelism where it applies and several algorithms are compared.
///
/// The problem's lower bound comes first and takes at most a quarter of the deadline's seconds.
/// Each algorithm then has all seconds that are left, from its own start. A stop request ends the
/// bound and the running algorithm, each with its best result so far, and starts no other; before
/// the first algorithm, that one runs without time, so that there is a schedule.
///
/// A larger bound that one algorithm proved becomes the bound of all rows (for latency). For
/// throughput, algorithms without a function for it schedule for latency, and rows are compared by
/// the period of that schedule (Row::many). A refused problem is a row with a refusal.
///
/// Throws the last algorithm's InputError where all refuse the problem and there is no row of data
/// parallelism, and RunError if a schedule
/// breaks a rule or is shorter than a bound. REQUIRES: for throughput, links do not contend.
std::vector<Row> compare(const Problem& problem, std::span<const Request> requests,
                         const Deadline& deadline, const CompareOptions& options = {});

}  // namespace hios::scheduler
