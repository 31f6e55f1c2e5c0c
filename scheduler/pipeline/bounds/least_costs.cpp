#include "scheduler/pipeline/bounds/least_costs.h"

#include <algorithm>
#include <functional>

#include "scheduler/bounds/graph/shares.h"
#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

constexpr double kMsPerByteAtOneGb = 1e-6;

double least_work_ms(const PipelineVertex& vertex, const std::vector<DeviceId>& devices,
                     const CostModel& costs, const Shares& shares) {
  double least = kInfinity;
  for (const DeviceId device : devices) {
    double ms = 0;
    for (const OpId op : vertex.ops)
      ms += costs.can_run(op, device) ? shares.work_ms(op, device) : kInfinity;
    least = std::min(least, ms);
  }
  return least;
}

}  // namespace

LeastCosts::LeastCosts(const PipelineProblem& problem)
    : problem_(&problem), classes_(problem.classes()), work_ms_(problem.size(), kInfinity) {
  const Shares shares(problem.graph(), problem.costs());
  for (PipelineClass& each : classes_) {
    charge_.send = std::min(charge_.send, each.charge.send);
    charge_.receive = std::min(charge_.receive, each.charge.receive);
    for (Vertex v = 0; v < problem.size(); ++v) {
      each.work_ms[v] = least_work_ms(problem.vertices()[v], each.devices, problem.costs(), shares);
      work_ms_[v] = std::min(work_ms_[v], each.work_ms[v]);
    }
  }
  for (const double ms : work_ms_) total_work_ms_ += ms;
}

LeastCosts::Overflow LeastCosts::overflow_of(std::size_t blocks) const {
  Overflow line{0, kInfinity};
  std::vector<double> bytes;  // by device
  for (const PipelineClass& each : classes_) {
    const Overflow own = overflow_line(each.fast_memory);
    line.ms_per_byte = std::min(line.ms_per_byte, own.ms_per_byte);
    bytes.insert(bytes.end(), each.devices.size(), own.bytes);
  }
  std::sort(bytes.begin(), bytes.end(), std::greater<>());
  for (std::size_t i = 0; i < std::min(blocks, bytes.size()); ++i) line.bytes += bytes[i];
  return line;
}

LeastCosts::Overflow overflow_line(const FastMemory& memory) {
  if (memory.bytes == 0) return {};
  return {static_cast<double>(memory.bytes), kMsPerByteAtOneGb / memory.gb_per_s};
}

}  // namespace hios::scheduler::pipeline
