#include "support/graphs/tight_memory.h"

#include <cmath>
#include <map>
#include <string>

#include "support/graphs/dag_generator.h"

namespace hios::test {
namespace {

constexpr Bytes kUnit = 1000;  // so that one per cent of a small device is not 0

Bytes random_bytes(std::uint64_t style, Random& random) {
  switch (style) {
    case 0:
      return kUnit * (1 + random.below(3));
    case 1:
      return kUnit * (1 + random.below(12));
    case 2:
      return random.below(4) == 0 ? kUnit * (20 + random.below(20)) : kUnit * random.below(6);
    default:
      return kUnit + random.below(8 * kUnit);
  }
}

std::string device_name(std::size_t d) { return std::string("gpu").append(std::to_string(d)); }

/// Multiplies all times by a factor for each device.
void give_speeds(std::vector<Operator>& operators, std::size_t devices, Random& random) {
  std::vector<double> factor;
  for (std::size_t d = 0; d < devices; ++d) factor.push_back(random.uniform(0.5, 3));
  for (Operator& op : operators) {
    op.has_time = false;
    for (std::size_t d = 0; d < devices; ++d) {
      op.time_by_device[device_name(d)] = op.time_ms * factor[d] * random.uniform(0.8, 1.25);
    }
  }
}

/// Returns random devices that honour `allowed` and labels.
std::vector<std::size_t> random_placement(std::vector<Operator>& operators, std::size_t devices,
                                          bool constrained, Random& random) {
  const bool uneven = random.below(3) == 0;
  std::map<std::string, std::size_t> labelled;
  std::vector<std::size_t> device_of;
  for (Operator& op : operators) {
    std::size_t d = random.below(devices);
    if (uneven && random.below(2) == 0) d = 0;
    if (constrained && random.below(4) == 0) {
      op.colocate = random.below(2) == 0 ? "a" : "b";
      d = labelled.emplace(op.colocate, d).first->second;
    } else if (constrained && random.below(4) == 0) {
      op.allowed = {device_name(d), device_name(random.below(devices))};
    }
    device_of.push_back(d);
  }
  return device_of;
}

}  // namespace

TightProblem tight_problem(std::size_t count, double spare, std::uint64_t seed) {
  Random random(seed, "tight memory");
  const std::size_t devices = 2 + random.below(2);
  const Graph plain = random_graph(count, random.uniform(0.1, 0.4), {.overlap = false}, random);
  std::vector<Operator> operators(plain.operators().begin(), plain.operators().end());
  std::vector<Edge> edges(plain.edges().begin(), plain.edges().end());
  const double expensive = random.uniform(0.05, 1);
  for (Edge& edge : edges) *edge.transfer_ms *= expensive;
  const std::uint64_t style = random.below(4);
  for (Operator& op : operators) {
    op.memory_bytes = random_bytes(style, random);
    op.parameter_bytes = random.below(2) * kUnit;
  }
  if (random.below(2) == 0) give_speeds(operators, devices, random);
  const auto device_of = random_placement(operators, devices, random.below(5) == 0, random);
  std::vector<Device> list;
  for (std::size_t d = 0; d < devices; ++d) {
    double need = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (device_of[i] != d) continue;
      need += static_cast<double>(operators[i].memory_bytes + operators[i].parameter_bytes);
    }
    const auto bytes = static_cast<Bytes>(std::floor(need * (1 + spare)));
    // A device that needs nothing gets a byte: 0 would be no limit.
    list.push_back({device_name(d), "gpu", 0, 1, std::max<Bytes>(bytes, 1), ""});
  }
  return {Graph("tight", operators, edges, plain.stage_cost()), Platform(list)};
}

}  // namespace hios::test
