#include "hios/evaluate/cost_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "hios/base/error.h"
#include "hios/profile/profile_gaps.h"

// Costs are computed in advance: of operators by device, of transfers by size and pair. Only stages
// of several groups are computed when queried, because there are exponentially many. A profile's
// stages are found by the numbers of their signatures, which is the cost in the schedulers' inner
// loops.

namespace hios {
namespace {

constexpr double kCannotRun = std::numeric_limits<double>::infinity();

const double* time_on(const Operator& op, const Device& device) {
  for (const std::string& key : {device.name, device.kind}) {
    const auto found = op.time_by_device.find(key);
    if (found != op.time_by_device.end()) return &found->second;
  }
  return op.has_time ? &op.time_ms : nullptr;
}

void refuse_missing_signatures(const Graph& graph, const Device& device, const Profile& profile,
                               const Configuration& configuration, Need need) {
  std::set<std::string> missing;
  for (const Operator& op : graph.operators()) {
    if (op.signature.empty()) {
      throw InputError(
          "operator " + op.name +
          " has no signature, so a profile has no time for it: give the graph's own costs");
    }
    if (may_run(op, device) && !configuration.operators.contains(op.signature)) {
      missing.insert(op.signature);
    }
  }
  if (!missing.empty()) refuse_signatures(missing, graph, profile, configuration, std::move(need));
}

/// Returns true if warm times count. Stages of several groups are measured in whole networks only;
/// compared with them, warm operators would look too fast.
bool counts_warm(const Graph& graph, const Device& device, const Configuration& configuration) {
  return device.fast_memory.bytes > 0 && device.streams == 1 &&
         has_warm_times(graph, configuration);
}

// A stage as numbers: the signatures of each group, then kEndOfGroup, groups in order.
using StageCode = std::vector<std::uint32_t>;
constexpr std::uint32_t kEndOfGroup = std::numeric_limits<std::uint32_t>::max();

struct StageCodeHash {
  std::size_t operator()(const StageCode& code) const {
    std::uint64_t hash = 0xcbf29ce484222325ull;
    for (std::uint32_t word : code) hash = (hash ^ word) * 0x100000001b3ull;
    return hash ^ (hash >> 29);
  }
};

StageCode flatten(std::vector<std::vector<std::uint32_t>>& groups) {
  std::sort(groups.begin(), groups.end());
  StageCode code;
  for (const auto& group : groups) {
    code.insert(code.end(), group.begin(), group.end());
    code.push_back(kEndOfGroup);
  }
  return code;
}

}  // namespace

/// The stages of one configuration whose signatures all occur in the graph.
struct CostModel::MeasuredStages {
  std::unordered_map<StageCode, double, StageCodeHash> ms;
};

bool may_run(const Operator& op, const Device& device) {
  if (!op.allowed.empty() &&
      std::find(op.allowed.begin(), op.allowed.end(), device.name) == op.allowed.end()) {
    return false;
  }
  return op.time_by_device.empty() || time_on(op, device) != nullptr;
}

CostModel::CostModel(const Graph& graph, const Platform& platform)
    : graph_(&graph),
      platform_(&platform),
      operators_(graph.size()),
      operator_ms_(graph.size() * platform.size(), kCannotRun),
      configurations_(platform.size(), nullptr),
      launch_ms_(platform.size(), 0),
      receive_share_(platform.size(), 0),
      shared_share_(platform.size(), 1) {
  if (platform.size() == 0) throw InputError("a platform needs at least one device");
}

CostModel CostModel::from_graph(const Graph& graph, const Platform& platform) {
  CostModel costs(graph, platform);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Operator& op = graph.op(OpId(i));
    if (!op.has_time && op.time_by_device.empty()) {
      throw InputError("operator " + op.name +
                       " has no time_ms: give the graph its costs, or a profile of the model");
    }
    for (std::size_t d = 0; d < platform.size(); ++d) {
      const Device& device = platform.device(DeviceId(d));
      if (may_run(op, device)) costs.operator_ms_[d * graph.size() + i] = *time_on(op, device);
    }
  }
  costs.fill_transfers();
  costs.fill_means();
  return costs;
}

CostModel CostModel::from_profile(const Graph& graph, const Platform& platform,
                                  const Profile& profile, Travel travel) {
  CostModel costs(graph, platform);
  costs.travel_ = travel;
  costs.profile_file_ = profile.file;
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const Device& device = platform.device(DeviceId(d));
    const Configuration& configuration = configuration_of(DeviceId(d), platform, profile, graph);
    refuse_missing_signatures(graph, device, profile, configuration,
                              measurement_of(DeviceId(d), platform, profile.file, graph));
    costs.configurations_[d] = &configuration;
    if (configuration.launch) costs.launch_ms_[d] = configuration.launch->ms;
    const bool warm = counts_warm(graph, device, configuration);
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const Operator& op = graph.op(OpId(i));
      if (!may_run(op, device)) continue;
      costs.operator_ms_[d * graph.size() + i] =
          warm ? configuration.warm.find(op.signature)->second.ms
               : configuration.operators.find(op.signature)->second.ms;
    }
  }
  costs.number_signatures();
  costs.fill_transfers();
  costs.fill_means();
  return costs;
}

CostModel CostModel::only(std::span<const DeviceId> devices) const {
  CostModel costs = *this;
  std::vector<bool> chosen(platform_->size(), false);
  for (const DeviceId device : devices) chosen[device.index()] = true;
  for (std::size_t d = 0; d < chosen.size(); ++d) {
    if (chosen[d]) continue;
    const auto row = costs.operator_ms_.begin() + static_cast<std::ptrdiff_t>(d * operators_);
    std::fill_n(row, operators_, kCannotRun);
  }
  const auto pairs = static_cast<double>(devices.size() * (devices.size() - 1));
  std::vector<std::optional<double>> known(rows_);  // means by row
  for (std::size_t e = 0; e < transfer_cost_.size(); ++e) {
    double& mean = costs.mean_transfer_ms_[e];
    if (pairs == 0) {
      mean = 0;
    } else if (transfer_cost_[e].by_pair) {
      std::optional<double>& of_row = known[transfer_cost_[e].row];
      if (of_row) {
        mean = *of_row;
        continue;
      }
      double sum = 0;
      for (const DeviceId from : devices) {
        for (const DeviceId to : devices) sum += transfer_ms(EdgeId(e), from, to);
      }
      mean = sum / pairs;
      of_row = mean;
    }
  }
  costs.mean_launch_ms_ = 0;
  for (const DeviceId device : devices) {
    if (pairs > 0) costs.mean_launch_ms_ += launch_ms(device) / static_cast<double>(devices.size());
  }
  costs.fill_means();
  return costs;
}

CostModel CostModel::on(const Platform& platform) const {
  CostModel costs = *this;
  costs.platform_ = &platform;
  return costs;
}

double CostModel::least_launch_ms() const {
  return *std::min_element(launch_ms_.begin(), launch_ms_.end());
}

bool CostModel::can_run(OpId op, DeviceId device) const {
  return operator_ms(op, device) < kCannotRun;
}

void CostModel::number_signatures() {
  std::map<std::string_view, std::uint32_t> numbers;
  for (const Operator& op : graph_->operators()) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    signature_.push_back(numbers.emplace(op.signature, next).first->second);
  }
  std::map<const Configuration*, std::shared_ptr<const MeasuredStages>> known;
  for (const Configuration* configuration : configurations_) {
    std::shared_ptr<const MeasuredStages>& stages = known[configuration];
    if (!stages) {
      auto numbered = std::make_shared<MeasuredStages>();
      for (const auto& [key, measurement] : configuration->stages) {
        std::vector<std::vector<std::uint32_t>> groups;
        bool ours = true;
        for (const auto& signatures : key) {
          auto& group = groups.emplace_back();
          for (const std::string& signature : signatures) {
            const auto found = numbers.find(signature);
            ours = ours && found != numbers.end();
            if (ours) group.push_back(found->second);
          }
        }
        if (ours) numbered->ms.emplace(flatten(groups), measurement.ms);
      }
      stages = std::move(numbered);
    }
    measured_.push_back(stages);
  }
}

void CostModel::fill_means() {
  mean_operator_ms_.assign(operators_, 0);
  for (std::size_t i = 0; i < operators_; ++i) {
    double sum = 0;
    int able = 0;
    for (std::size_t d = 0; d < platform_->size(); ++d) {
      if (!can_run(OpId(i), DeviceId(d))) continue;
      sum += operator_ms(OpId(i), DeviceId(d));
      ++able;
    }
    if (able == 0) {
      throw InputError("operator " + graph_->op(OpId(i)).name +
                       " can run on no device: see its `allowed`, its `time_ms` and the platform");
    }
    mean_operator_ms_[i] = sum / able;
  }
}

double CostModel::serial_ms(std::span<const Group> groups, DeviceId device) const {
  double sum = 0;
  for (const Group& group : groups) {
    for (OpId op : group) sum += operator_ms(op, device);
  }
  return sum;
}

double CostModel::rule_ms(const Stage& stage, DeviceId device) const {
  const double serial = serial_ms(stage.groups, device);
  const StageCostRule& rule = graph_->stage_cost();
  if (rule.kind == StageCostRule::Kind::kSerial) return serial;
  double filled = 0, longest = 0;
  for (const Group& group : stage.groups) {
    double length = 0;
    for (OpId op : group) {
      length += operator_ms(op, device);
      filled += operator_ms(op, device) * graph_->op(op).utilization;
    }
    longest = std::max(longest, length);
  }
  return rule.weight * serial + (1 - rule.weight) * std::max(filled, longest);
}

std::optional<double> CostModel::measured_ms(std::span<const Group> groups, DeviceId device) const {
  const auto& known = measured_[device.index()]->ms;
  if (known.empty()) return std::nullopt;
  std::vector<std::vector<std::uint32_t>> numbers;
  numbers.reserve(groups.size());
  for (const Group& group : groups) {
    auto& signatures = numbers.emplace_back();
    for (OpId op : group) signatures.push_back(signature_[op.index()]);
  }
  const auto found = known.find(flatten(numbers));
  if (found == known.end()) return std::nullopt;
  return found->second;
}

StageCost CostModel::profiled(const Stage& stage, DeviceId device) const {
  if (const auto ms = measured_ms(stage.groups, device)) return {*ms, true};
  if (on_unmeasured_) on_unmeasured_(stage, device);
  const Device& runner = platform_->device(device);
  std::size_t streams = static_cast<std::size_t>(std::max(1, runner.streams));
  if (runner.threads > 0) streams = std::min(streams, static_cast<std::size_t>(runner.threads));
  if (stage.groups.size() <= streams) return {serial_ms(stage.groups, device), false};
  double sum = 0;
  std::span<const Group> waiting(stage.groups);
  while (!waiting.empty()) {
    const auto batch = waiting.first(std::min(streams, waiting.size()));
    const auto ms = batch.size() > 1 ? measured_ms(batch, device) : std::nullopt;
    sum += ms ? *ms : serial_ms(batch, device);
    waiting = waiting.subspan(batch.size());
  }
  return {sum, false};
}

StageCost CostModel::stage(const Stage& stage, DeviceId device) const {
  if (stage.groups.size() == 1) return {serial_ms(stage.groups, device), true};
  if (!configurations_[device.index()]) return {rule_ms(stage, device), true};
  return profiled(stage, device);
}

StageKey stage_key(const Graph& graph, const Stage& stage) {
  StageKey key;
  for (const Group& group : stage.groups) {
    auto& signatures = key.emplace_back();
    for (OpId op : group) signatures.push_back(graph.op(op).signature);
  }
  return canonical(std::move(key));
}

}  // namespace hios
