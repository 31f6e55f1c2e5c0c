#include "engine/job/verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"
#include "hios/base/log.h"

namespace hios {
namespace {

/// Infinite where one of the two is NaN, or an infinity that the other is not.
double distance(float value, float expected) {
  if (value == expected) return 0;
  const double difference = std::abs(static_cast<double>(value) - static_cast<double>(expected));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

}  // namespace

// Measured over every operator of the four networks (docs/arithmetic.md has the table), whose
// values have about unit variance: the reference backend in fp16 is off by 0.023 at most from
// itself in fp32. It rounds as rarely as it can, and hardware in more places: so twice as much. In
// tf32 it is off by 0.025 where operands are rounded, as it does, and by 0.66 where their low bits
// are cut off, as hardware may: that shrinks every product a little, all the way down a deep
// network.
Tolerance default_tolerance(Precision precision) {
  switch (precision) {
    case Precision::kTf32:
      return {.atol = 2e-1, .rtol = 1e-1};
    case Precision::kFp16:
      return {.atol = 5e-2, .rtol = 2e-2};
    case Precision::kFp32:
      break;
  }
  return {};
}

Comparison compare(std::span<const float> values, std::span<const float> expected,
                   const Tolerance& tolerance) {
  if (values.size() != expected.size()) {
    throw std::logic_error("compared " + std::to_string(values.size()) + " values with " +
                           std::to_string(expected.size()));
  }
  Comparison result;
  result.bitwise =
      values.empty() || std::memcmp(values.data(), expected.data(), values.size_bytes()) == 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = distance(values[i], expected[i]);
    const double magnitude = std::abs(static_cast<double>(expected[i]));
    result.max_abs = std::max(result.max_abs, difference);
    if (magnitude > tolerance.atol && difference > 0) {
      result.max_rel = std::max(result.max_rel, difference / magnitude);
    }
    const bool within = difference <= tolerance.atol + tolerance.rtol * magnitude;
    if (!within || std::isinf(difference)) ++result.outside;
  }
  return result;
}

OneRankRun::OneRankRun(const CoarseGraph& coarse, const Model& model, Backend& backend,
                       const std::vector<int>& threads_of, TensorSource& source,
                       const std::string& progress)
    : backend_(backend) {
  const Graph& graph = coarse.graph;
  outputs_.resize(graph.size());
  elements_.resize(graph.size());
  const Shape& input_shape = model.tensor(model.input()).shape;
  const auto input =
      backend.allocate(input_shape.size_bytes(backend.element_bytes()), "the model's input");
  std::vector<float> values(static_cast<std::size_t>(input_shape.elements()));
  source.input(model, values);
  write_floats(backend, input->data(), values);

  log::Progress shown(progress);
  std::size_t done = 0;
  for (const OpId op : graph.topological()) {
    if (!progress.empty()) shown.update(done++, graph.size(), -1);
    const OperatorLayers& layers = coarse.layers(op);
    const Shape& shape = model.tensor(layers.output).shape;
    elements_[op.index()] = static_cast<std::size_t>(shape.elements());
    outputs_[op.index()] =
        backend.allocate(shape.size_bytes(backend.element_bytes()), graph.op(op).name);

    std::vector<const std::byte*> inputs;
    for (const TensorId id : layers.inputs) {
      const std::optional<OpId> producer = coarse.producer(id);
      inputs.push_back(producer ? outputs_[producer->index()]->data() : input->data());
    }
    // Bound for this one run: the weights of all operators never lie in memory together.
    const Operation operation = operation_of(coarse, model, op);
    const std::vector<CoreShare> share = core_shares(1, threads_of[op.index()]);
    const auto bound =
        backend.bind(operation, inputs, outputs_[op.index()]->data(), share.front(), source);
    const BoundGroup group{bound.get()};
    backend.run_stage(std::span(&group, 1), share, nullptr, nullptr);
    backend.synchronize();  // before what runs goes
  }
}

std::vector<float> OneRankRun::output(OpId op) const {
  return read_floats(backend_, outputs_[op.index()]->data(), elements_[op.index()]);
}

std::vector<int> threads_of_operators(const Graph& graph, const ScheduleFile& schedule) {
  std::vector<int> result(graph.size(), 1);
  for (std::size_t device = 0; device < schedule.schedule.devices.size(); ++device) {
    for (const Stage& stage : schedule.schedule.devices[device]) {
      const std::vector<CoreShare> shares =
          core_shares(stage.groups.size(), schedule.devices[device].threads);
      for (std::size_t group = 0; group < stage.groups.size(); ++group) {
        for (const OpId op : stage.groups[group]) result[op.index()] = shares[group].threads;
      }
    }
  }
  return result;
}

}  // namespace hios
