// Bounds for devices that need not exist: copies of one device, with the costs that are known of
// it. A graph with costs gets that device's times as its own. A profile gets a configuration with
// as many ranks (hios/profile/extrapolate.h). Tests:
// tests/scheduler/compare/gains_test.cpp compares the gains with brute force.
#include "scheduler/compare/gains.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/profile/extrapolate.h"
#include "scheduler/bounds/graph/shares.h"

namespace hios::scheduler {
namespace {

constexpr std::size_t kMostPairsOfEdges = 1'000'000;  ///< costs of transfers that are read
constexpr Bytes kAnySize = 1;                         ///< of a curve that is constant

std::vector<double> times_on(const CostModel& costs, DeviceId device) {
  std::vector<double> times;
  for (std::size_t i = 0; i < costs.graph().size(); ++i) {
    times.push_back(costs.operator_ms(OpId(i), device));
  }
  return times;
}

double sum_of(const std::vector<double>& times) {
  double sum = 0;
  for (const double ms : times) sum += ms;
  return sum;
}

/// Returns true if the devices are like this one, and operators may run on each of them.
bool all_like(const CostModel& costs, DeviceId like, const std::vector<double>& times) {
  const Platform& platform = costs.platform();
  const Device& one = platform.device(like);
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const Device& other = platform.device(DeviceId(d));
    if (other.kind != one.kind || other.streams != one.streams ||
        other.memory_bytes != one.memory_bytes || times_on(costs, DeviceId(d)) != times) {
      return false;
    }
  }
  return true;
}

/// The least times of operators on one device, whatever their stages.
struct LeastTimes {
  LeastTimes(const CostModel& costs, DeviceId device) {
    const Shares shares(costs.graph(), costs);
    for (std::size_t i = 0; i < costs.graph().size(); ++i) {
      path_ms.push_back(shares.path_ms(OpId(i), device));
      work_ms.push_back(shares.work_ms(OpId(i), device));
    }
  }
  std::vector<double> path_ms, work_ms;  // by operator
};

/// Bounds of copies of one device.
class Copies {
 public:
  Copies(const CostModel& costs, DeviceId like, const std::vector<double>& times)
      : costs_(costs), like_(like), times_(times), graph_(own_graph()) {}

  /// Returns nothing where costs are missing.
  std::optional<LowerBound> bound(std::size_t devices) const {
    const Device& device = costs_.platform().device(like_);
    std::vector<Device> copies(devices, device);
    for (std::size_t d = 0; d < devices; ++d) copies[d].name += "-" + std::to_string(d);
    const Platform platform(std::move(copies));
    try {
      if (costs_.configuration(like_) == nullptr) {
        return lower_bound(graph_, CostModel::from_graph(graph_, platform));
      }
      const Profile profile = profile_of(platform);
      return lower_bound(graph_, CostModel::from_profile(graph_, platform, profile, costs_.travel()));
    } catch (const InputError&) {
      return {};
    }
  }

 private:
  /// Returns the time of a tensor between two devices: the least, and 0 where it is not known.
  double transfer_ms(EdgeId edge) const {
    if (const auto& own = costs_.graph().edge(edge).transfer_ms) return *own;
    const std::size_t devices = costs_.platform().size();
    if (devices < 2 || devices * devices * costs_.graph().edge_count() > kMostPairsOfEdges) {
      return 0;
    }
    double least_ms = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < devices; ++a) {
      for (std::size_t b = 0; b < devices; ++b) {
        if (a == b) continue;
        least_ms = std::min(least_ms, costs_.transfer_ms(edge, DeviceId(a), DeviceId(b)));
      }
    }
    return least_ms;
  }

  Graph own_graph() const {
    const Graph& graph = costs_.graph();
    const bool measured = costs_.configuration(like_) != nullptr;
    std::vector<Operator> operators(graph.operators().begin(), graph.operators().end());
    for (std::size_t i = 0; i < operators.size(); ++i) {
      operators[i].allowed.clear();
      operators[i].time_by_device.clear();
      operators[i].time_by_size.clear();
      operators[i].has_time = !measured;
      operators[i].time_ms = measured ? 0 : times_[i];
    }
    std::vector<Edge> edges(graph.edges().begin(), graph.edges().end());
    for (std::size_t e = 0; e < edges.size() && !measured; ++e) {
      edges[e].transfer_ms = transfer_ms(EdgeId(e));
      edges[e].transfer_by_pair = nullptr;
    }
    return Graph(graph.name(), std::move(operators), std::move(edges), graph.stage_cost());
  }

  Profile profile_of(const Platform& platform) const {
    Profile profile;
    Configuration own = *costs_.configuration(like_);
    const bool known = std::ranges::any_of(
        own.transfers, [](const TransferCurve& curve) { return !curve.points.empty(); });
    // In a job of several kinds, transfers between this kind and all others stand in.
    if (!own.devices.empty()) own.ranks = platform.size() + 1;
    own.devices.clear();
    if (!known) {
      own.ranks = platform.size();
      own.transfers.clear();
      for (std::size_t from = 0; from < platform.size(); ++from) {
        for (std::size_t to = 0; to < platform.size(); ++to) {
          if (from != to) own.transfers.push_back({from, to, {{kAnySize, 0.0}}});
        }
      }
    }
    profile.configurations.push_back(std::move(own));
    const auto ranks = other_ranks(profile, platform);
    return ranks ? extrapolated(profile, platform, *ranks) : profile;
  }

  const CostModel& costs_;
  DeviceId like_;
  const std::vector<double>& times_;
  const Graph graph_;
};

}  // namespace

std::optional<Gains> gains_of(const CostModel& costs, std::span<const std::size_t> devices,
                              const std::optional<LowerBound>& known) {
  const Graph& graph = costs.graph();
  if (graph.size() == 0 || graph.batching()) return {};
  Gains gains{.like = {}, .one_ms = std::numeric_limits<double>::infinity(), .gains = {}};
  std::vector<double> times;
  for (std::size_t d = 0; d < costs.platform().size(); ++d) {
    std::vector<double> own = times_on(costs, DeviceId(d));
    const double ms = sum_of(own) + costs.launch_ms(DeviceId(d));
    if (!(ms < gains.one_ms)) continue;
    gains.one_ms = ms;
    gains.like = DeviceId(d);
    times = std::move(own);
  }
  if (!(gains.one_ms < std::numeric_limits<double>::infinity())) return {};
  gains.quick = graph.size() > kMostOperatorsOfGains;
  gains.serial = costs.platform().device(gains.like).streams == 1;
  const bool alike = known && known->ms > 0 && all_like(costs, gains.like, times);
  std::optional<Copies> copies;
  std::optional<LeastTimes> least;
  if (gains.quick) least.emplace(costs, gains.like);
  if (!gains.quick) copies.emplace(costs, gains.like, times);
  for (const std::size_t number : devices) {
    if (alike && number == costs.platform().size()) {
      gains.gains.push_back({number, known->ms, known->name});
    } else if (least) {
      gains.gains.push_back(quick_gain(graph, least->path_ms, least->work_ms, number));
    } else if (const auto bound = copies->bound(number)) {
      gains.gains.push_back({number, bound->ms, bound->name});
    }
  }
  return gains;
}

}  // namespace hios::scheduler
