#include "scheduler/batches/copies.h"

#include <algorithm>
#include <limits>
#include <map>

#include "hios/base/error.h"

namespace hios::scheduler {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Times by number of parts, from 0 to all, and the choice that gives each.
struct Row {
  std::vector<double> ms;
  std::vector<std::size_t> last;  ///< parts of the last batch, or of the last device
};

class InputShares {
 public:
  explicit InputShares(const DivisibleProblem& problem)
      : problem_(problem), part_(problem.graphs->sizes().front()) {
    parts_ = static_cast<std::size_t>(problem.graphs->inputs() / part_);
    for (const std::int64_t size : problem.graphs->sizes()) add_size(size);
    for (std::size_t d = 0; d < problem.platform->size(); ++d) {
      by_device_.push_back(in_batches(d));
      add_device(d);
    }
  }

  bool exist() const { return total_.back().ms[parts_] < kNever; }

  /// Returns the stages: devices in order take neighbouring inputs, and each batch runs all
  /// operators before the next.
  BatchStages stages() const {
    BatchStages devices(by_device_.size());
    std::size_t left = parts_;
    for (std::size_t d = by_device_.size(); d-- > 0;) {
      const std::size_t own = total_[d].last[left];
      const std::size_t begin = left - own;
      for (std::size_t end = left; end > begin; end -= by_device_[d].last[end - begin]) {
        const std::size_t size = by_device_[d].last[end - begin];
        for (const OpId op : problem_.graphs->whole()->topological()) {
          devices[d].push_back({{Batch{op, {inputs(end - size), inputs(end)}}}});
        }
      }
      left = begin;
    }
    return devices;
  }

 private:
  std::int64_t inputs(std::size_t parts) const { return static_cast<std::int64_t>(parts) * part_; }

  /// Computes the time of the whole network on each device for batches of `size` inputs.
  void add_size(std::int64_t size) {
    const auto parts = static_cast<std::size_t>(size / part_);
    const Graph& graph = problem_.graphs->of(size);
    auto& ms = whole_ms_[parts];
    ms.assign(problem_.platform->size(), kNever);
    try {
      const CostModel costs = problem_.make_costs(graph);
      for (std::size_t d = 0; d < ms.size(); ++d) {
        ms[d] = 0;
        for (std::size_t v = 0; v < graph.size(); ++v) {
          ms[d] += costs.operator_ms(OpId(v), DeviceId(d));
        }
      }
    } catch (const InputError&) {  // no device runs batches of this size
    }
  }

  Row in_batches(std::size_t d) const {
    Row row{std::vector<double>(parts_ + 1, kNever), std::vector<std::size_t>(parts_ + 1, 0)};
    row.ms[0] = 0;
    for (std::size_t all = 1; all <= parts_; ++all) {
      for (const auto& [size, ms] : whole_ms_) {
        if (size > all || row.ms[all - size] + ms[d] >= row.ms[all]) continue;
        row.ms[all] = row.ms[all - size] + ms[d];
        row.last[all] = size;
      }
    }
    return row;
  }

  /// Computes the least time in which devices 0 to d run each number of parts.
  void add_device(std::size_t d) {
    const std::vector<double>& own = by_device_[d].ms;
    Row row{std::vector<double>(parts_ + 1, kNever), std::vector<std::size_t>(parts_ + 1, 0)};
    for (std::size_t all = 0; all <= parts_; ++all) {
      for (std::size_t here = 0; here <= all; ++here) {
        const double before = d > 0 ? total_[d - 1].ms[all - here] : here == all ? 0 : kNever;
        const double ms = std::max(before, own[here]);
        if (ms >= row.ms[all]) continue;
        row.ms[all] = ms;
        row.last[all] = here;
      }
    }
    total_.push_back(std::move(row));
  }

  const DivisibleProblem& problem_;
  std::int64_t part_;
  std::size_t parts_ = 0;
  std::map<std::size_t, std::vector<double>> whole_ms_;  // by parts in a batch, then device
  std::vector<Row> by_device_, total_;
};

}  // namespace

std::optional<TimedDivision> copies(const DivisibleProblem& problem) {
  const InputShares shares(problem);
  return shares.exist() ? timed(problem, shares.stages()) : std::nullopt;
}

}  // namespace hios::scheduler
