// Part of hios/graph/random/random_dag.h: random_problem(), which makes devices differ.
//
// Labels, allowed devices, bytes and the placement that decides the memory limits are drawn from
// separate streams of random numbers. So the network and its times do not depend on them, and no
// rule changes another.
//
// A placement assigns units: operators that share a label, or single operators. Limits are derived
// from a placement that keeps labels and allowed devices, so at least that placement fits, even
// with nothing to spare. Bytes are whole MiB, so that other placements fit as well.
// tests/hios/graph/random/random_problem_test.cpp checks the rules and pins the numbers.
#include <algorithm>
#include <numeric>
#include <utility>

#include "hios/base/error.h"
#include "hios/graph/random/families.h"

namespace hios {
namespace families {
namespace {

constexpr Bytes kMiB = Bytes{1} << 20;
constexpr std::uint64_t kMaxOutputMiB = 8, kMaxParametersMiB = 16;
constexpr std::size_t kLargestLabel = 4;

struct Unit {
  std::vector<std::size_t> members;
  std::vector<std::size_t> devices;  ///< allowed devices, in order; empty: all
};

std::vector<std::size_t> shuffled(std::size_t count, Random& random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random);
  return order;
}

/// Assigns labels and returns all units; no label has a single operator.
std::vector<Unit> label(std::vector<Operator>& operators, const RandomDag& parameters) {
  Random random(parameters.seed, "random_dag labels");
  const std::vector<std::size_t> order = shuffled(operators.size(), random);
  std::vector<Unit> units;
  std::size_t next = 0;
  std::size_t left = share_of(operators.size(), parameters.devices.colocate);
  while (left >= 2) {
    std::size_t size = std::min<std::size_t>(left, 2 + random.below(kLargestLabel - 1));
    if (left - size == 1) size = size < kLargestLabel ? size + 1 : size - 1;
    Unit unit;
    for (std::size_t i = 0; i < size; ++i) unit.members.push_back(order[next++]);
    for (const std::size_t v : unit.members) {
      operators[v].colocate = std::string("label").append(std::to_string(units.size()));
    }
    units.push_back(std::move(unit));
    left -= size;
  }
  for (; next < order.size(); ++next) units.push_back({{order[next]}, {}});
  return units;
}

/// Restricts units, in random order, until they hold the share of operators.
void restrict_devices(std::vector<Operator>& operators, std::vector<Unit>& units,
                      const RandomDag& parameters, const Platform& platform) {
  Random random(parameters.seed, "random_dag allowed");
  const std::size_t wanted = share_of(operators.size(), parameters.devices.allowed);
  std::size_t restricted = 0;
  for (const std::size_t u : shuffled(units.size(), random)) {
    if (restricted >= wanted) return;
    std::vector<std::size_t> devices = shuffled(platform.size(), random);
    devices.resize(1 + random.below(platform.size() - 1));
    std::sort(devices.begin(), devices.end());
    for (const std::size_t v : units[u].members) {
      operators[v].allowed.reserve(devices.size());
      for (const std::size_t d : devices) {
        operators[v].allowed.push_back(platform.device(DeviceId(d)).name);
      }
    }
    restricted += units[u].members.size();
    units[u].devices = std::move(devices);
  }
}

/// Sets one time where all speeds are equal, otherwise times by device.
void divide_times(std::vector<Operator>& operators, const std::vector<double>& speeds,
                  const Platform& platform) {
  const bool alike = std::all_of(speeds.begin(), speeds.end(),
                                 [&](double speed) { return speed == speeds.front(); });
  for (Operator& op : operators) {
    const double time_ms = op.time_ms;
    if (alike) {
      op.time_ms = time_ms / speeds.front();
      continue;
    }
    op.has_time = false;
    op.time_ms = 0;
    for (std::size_t d = 0; d < speeds.size(); ++d) {
      op.time_by_device.emplace(platform.device(DeviceId(d)).name, time_ms / speeds[d]);
    }
  }
}

/// Multiplies the times of each device by random factors.
void spread_times(std::vector<Operator>& operators, const RandomDag& parameters,
                  const Platform& platform) {
  Random random(parameters.seed, "random_dag spread");
  const double spread = parameters.devices.spread;
  for (Operator& op : operators) {
    for (const Device& device : platform.devices()) {
      const double factor = lognormal(random, 1, spread);
      op.time_by_device.try_emplace(device.name, op.time_ms).first->second *= factor;
    }
    op.has_time = false;
    op.time_ms = 0;
  }
}

void draw_bytes(GraphDraft& draft, std::uint64_t seed) {
  Random random(seed, "random_dag bytes");
  for (Operator& op : draft.operators) {
    op.memory_bytes = kMiB * (1 + random.below(kMaxOutputMiB));
    op.parameter_bytes = kMiB * random.below(kMaxParametersMiB + 1);
  }
  for (Edge& edge : draft.edges) edge.size_bytes = draft.operators[edge.from.index()].memory_bytes;
}

/// Assigns units, in random order, each to the allowed device that holds the least, and returns the
/// bytes that each device holds.
std::vector<Bytes> deal_out(const std::vector<Operator>& operators, const std::vector<Unit>& units,
                            std::uint64_t seed, std::size_t devices) {
  Random random(seed, "random_dag placement");
  std::vector<Bytes> held(devices, 0);
  std::vector<std::size_t> all(devices);
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::size_t u : shuffled(units.size(), random)) {
    const std::vector<std::size_t>& may = units[u].devices.empty() ? all : units[u].devices;
    const std::size_t least = *std::min_element(
        may.begin(), may.end(), [&](std::size_t a, std::size_t b) { return held[a] < held[b]; });
    for (const std::size_t v : units[u].members) {
      held[least] += operators[v].memory_bytes + operators[v].parameter_bytes;
    }
  }
  return held;
}

Platform limited(const Platform& platform, const std::vector<Bytes>& held, double memory) {
  const Bytes sum = std::accumulate(held.begin(), held.end(), Bytes{0});
  const auto spare = static_cast<Bytes>((memory - 1) * static_cast<double>(sum) /
                                        static_cast<double>(held.size()));
  std::vector<Device> devices(platform.devices().begin(), platform.devices().end());
  for (std::size_t d = 0; d < devices.size(); ++d) {
    const Bytes limit = std::max<Bytes>(1, held[d] + spare);  // 0 would mean no limit
    if (devices[d].memory_bytes != 0 && devices[d].memory_bytes != limit) {
      throw InputError(key_words("memory") + "would give device " + printable(devices[d].name) +
                       " " + std::to_string(limit) + " bytes, and it has " +
                       std::to_string(devices[d].memory_bytes) + "; leave one of the two out");
    }
    devices[d].memory_bytes = limit;
  }
  return platform.with_devices(std::move(devices));
}

void require_range(std::string_view key, double value, double low, double high) {
  if (value >= low && value <= high) return;
  throw InputError(key_words(key) + "is out of its range");
}

void check_devices(const RandomDevices& devices, const Platform& platform) {
  for (const double speed : devices.speeds) require_range("speeds", speed, kMinSpeed, kMaxSpeed);
  require_range("spread", devices.spread, 0, kMaxSpread);
  if (devices.memory) require_range("memory", *devices.memory, kMinMemory, kMaxMemory);
  require_range("allowed", devices.allowed, 0, 1);
  require_range("colocate", devices.colocate, 0, 1);
  if (!devices.speeds.empty() && devices.speeds.size() != platform.size()) {
    throw InputError(key_words("speeds") + std::to_string(devices.speeds.size()) +
                     " are given, and there are " + std::to_string(platform.size()) +
                     " devices; give one for each");
  }
  if (devices.allowed > 0 && platform.size() < 2) {
    throw InputError(key_words("allowed") +
                     "operators cannot be restricted to some of the devices if there is only one; "
                     "give two devices or more");
  }
}

}  // namespace
}  // namespace families

std::size_t RandomDag::device_names(std::size_t device_count) const {
  const bool times = std::any_of(devices.speeds.begin(), devices.speeds.end(),
                                 [&](double speed) { return speed != devices.speeds.front(); }) ||
                     devices.spread > 0;
  const double lists = devices.allowed / 2;  // on average half of the devices
  const double names = static_cast<double>(operators) * static_cast<double>(device_count);
  const std::size_t own = family == Family::kModules ? operators * families::kModuleDevices : 0;
  const double kinds_of_time = 1 + parameters.in_place;
  return static_cast<std::size_t>(static_cast<double>(own) * kinds_of_time +
                                  names * ((times ? kinds_of_time : 0) + lists));
}

RandomProblem random_problem(const RandomDag& parameters, const Platform& platform) {
  const RandomDevices& devices = parameters.devices;
  families::check_devices(devices, platform);
  families::GraphDraft draft = families::draw_graph(parameters);
  std::vector<families::Unit> units = families::label(draft.operators, parameters);
  if (devices.allowed > 0) {
    families::restrict_devices(draft.operators, units, parameters, platform);
  }
  if (!devices.speeds.empty()) families::divide_times(draft.operators, devices.speeds, platform);
  if (devices.spread > 0) families::spread_times(draft.operators, parameters, platform);
  if (devices.memory) families::draw_bytes(draft, parameters.seed);
  families::draw_parameters(draft, parameters);
  families::draw_in_place(draft, parameters);
  Platform own = platform;
  if (devices.memory) {
    const std::vector<Bytes> held =
        families::deal_out(draft.operators, units, parameters.seed, platform.size());
    own = families::limited(platform, held, *devices.memory);
  }
  return {families::assembled(std::move(draft)), std::move(own)};
}

}  // namespace hios
