#include <algorithm>
#include <utility>
#include <vector>

#include "scheduler/cold/bounds/load_bounds.h"

// Order the sets by the time at which some device first holds them. Before the k-th is there, the
// bytes of the first k have moved. The operators of the k-th and of all later ones start after
// that, and the devices process no more than the sum of their speeds. So the latency is at least
// the time of the first k loads and that of these operators, for each k: the length of a
// permutation schedule of two machines in which each set is a job. Johnson's order makes it the
// least over all permutations, and so a bound for every order. Operators without parameters are a
// job without a load.
//
// An operator that may read its parameters in place starts before they have moved, but ends after.
// Its set is one of two jobs, each of which is a bound: without a load, or with the load of its
// least bytes and no operators. It is the one that takes longer.
//
// S. M. Johnson, "Optimal two- and three-stage production schedules with setup times included",
// Naval Research Logistics Quarterly 1 (1954).

namespace hios::scheduler {
namespace {

/// A set as a job of two machines.
struct ShopJob {
  double load_ms = 0;
  double work_ms = 0;  ///< of its operators, at the sum of the devices' speeds
};

/// The ways to count sets that may be read in place.
enum class InPlaceJob { kLoad, kWork, kLonger };

/// Returns true for a job that comes before another one in Johnson's order.
bool is_before(const ShopJob& a, const ShopJob& b) {
  const bool a_grows = a.load_ms < a.work_ms, b_grows = b.load_ms < b.work_ms;
  if (a_grows != b_grows) return a_grows;
  return a_grows ? a.load_ms < b.load_ms : a.work_ms > b.work_ms;
}

/// Returns the end of the second machine in Johnson's order. REQUIRES: each job has a load.
double johnson_ms(std::vector<ShopJob> jobs) {
  std::ranges::stable_sort(jobs, is_before);
  double loaded_ms = 0, end_ms = 0;
  for (const ShopJob& job : jobs) {
    loaded_ms += job.load_ms;
    end_ms = std::max(end_ms, loaded_ms) + job.work_ms;
  }
  return end_ms;
}

/// Returns the job of a set with all the work of its operators.
ShopJob counted(ShopJob job, bool in_place, InPlaceJob as) {
  if (!in_place) return job;
  const bool load =
      as == InPlaceJob::kLoad || (as == InPlaceJob::kLonger && job.load_ms > job.work_ms);
  return load ? ShopJob{job.load_ms, 0} : ShopJob{0, job.work_ms};
}

}  // namespace

double flow_shop_ms(const BoundGraph& part, const MovedSets& moved) {
  double speed = 0, all_work_ms = 0;
  for (const double each : part.speeds) speed += each;
  if (!(speed > 0) || !(moved.bytes_per_ms() > 0)) return 0;
  std::vector<ShopJob> by_set(moved.sets().sets().size());
  for (std::size_t number = 0; number < part.size(); ++number) {
    const double work_ms = part.window_ms[number] / speed;
    all_work_ms += work_ms;
    const auto set = moved.sets().of(part.ops[number]);
    if (!set) continue;
    by_set[*set].work_ms += work_ms;
    by_set[*set].load_ms = moved.least_bytes(*set) / moved.bytes_per_ms();
  }
  double longest_ms = all_work_ms;
  for (const InPlaceJob as : {InPlaceJob::kLoad, InPlaceJob::kWork, InPlaceJob::kLonger}) {
    std::vector<ShopJob> jobs;
    for (std::size_t s = 0; s < by_set.size(); ++s) {
      const ShopJob job = counted(by_set[s], moved.in_place(s), as);
      if (job.load_ms > 0) jobs.push_back(job);
    }
    if (jobs.empty()) continue;
    const double end_ms = johnson_ms(std::move(jobs));
    longest_ms = std::max(longest_ms, moved.moved_ms(end_ms * moved.bytes_per_ms()));
  }
  return longest_ms;
}

}  // namespace hios::scheduler
