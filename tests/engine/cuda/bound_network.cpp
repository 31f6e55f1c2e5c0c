#include "engine/cuda/bound_network.h"

#include <algorithm>

#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"

namespace hios::test {
namespace {

/// Returns the number of operators on the longest path before each operator, by OpId.
std::vector<std::size_t> depths(const CoarseGraph& coarse) {
  std::vector<std::size_t> result(coarse.operators.size(), 0);
  for (const OpId op : coarse.graph.topological()) {
    for (const TensorId input : coarse.layers(op).inputs) {
      if (const auto producer = coarse.producer(input)) {
        result[op.index()] = std::max(result[op.index()], result[producer->index()] + 1);
      }
    }
  }
  return result;
}

}  // namespace

BoundNetwork::BoundNetwork(const CoarseGraph& coarse, const Model& model, Backend& backend,
                           TensorSource& source, std::size_t streams)
    : coarse_(coarse), model_(model), backend_(backend) {
  const Shape& shape = model.tensor(model.input()).shape;
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  source.input(model, values);
  input_ = backend.allocate(coarse.size_bytes(shape), "the input");
  write_floats(backend, input_->data(), values);
  for (const OperatorLayers& layers : coarse.operators) {
    outputs_.push_back(
        backend.allocate(coarse.size_bytes(model.tensor(layers.output).shape), "an output"));
  }
  bind(streams, source);
  recording_ = backend.record([&] { queue(); });
}

void BoundNetwork::bind(std::size_t streams, TensorSource& source) {
  operators_.resize(coarse_.operators.size());
  const std::vector<std::size_t> depth = depths(coarse_);
  const std::size_t levels = 1 + *std::max_element(depth.begin(), depth.end());
  for (std::size_t level = 0; level < levels; ++level) {
    std::vector<OpId> ready;
    for (std::size_t i = 0; i < depth.size(); ++i) {
      if (depth[i] == level) ready.emplace_back(i);
    }
    for (std::size_t first = 0; first < ready.size(); first += streams) {
      Stage& stage = stages_.emplace_back();
      const std::size_t count = std::min(streams, ready.size() - first);
      stage.shares = core_shares(count, backend_.threads());
      for (std::size_t i = 0; i < count; ++i) {
        const OpId op = ready[first + i];
        std::vector<const std::byte*> inputs;
        for (const TensorId input : coarse_.layers(op).inputs) {
          const auto producer = coarse_.producer(input);
          inputs.push_back((producer ? outputs_[producer->index()] : input_)->data());
        }
        operators_[op.index()] =
            bind_operator(coarse_, model_, op, backend_, inputs, outputs_[op.index()]->data(),
                          stage.shares[i], source);
        stage.groups.push_back({operators_[op.index()].get()});
      }
    }
  }
}

void BoundNetwork::queue() {
  for (const Stage& stage : stages_)
    backend_.run_stage(stage.groups, stage.shares, nullptr, nullptr);
}

void BoundNetwork::run() { run(1); }

void BoundNetwork::run(int times) {
  for (int i = 0; i < times; ++i) {
    if (recording_) {
      recording_->replay();
    } else {
      queue();
    }
  }
  backend_.synchronize();
}

std::vector<float> BoundNetwork::output(OpId op) {
  Buffer& buffer = *outputs_[op.index()];
  const Shape& shape = model_.tensor(coarse_.layers(op).output).shape;
  return read_floats(backend_, buffer.data(), static_cast<std::size_t>(shape.elements()));
}

std::vector<float> BoundNetwork::outputs() {
  std::vector<float> all;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::vector<float> one = output(OpId(i));
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

}  // namespace hios::test
