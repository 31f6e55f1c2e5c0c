#pragma once

#include <map>
#include <memory>
#include <vector>

#include "support/emulated_cuda/cudnn.h"
#include "support/emulated_cuda/libraries/convolve.h"

/// The target of a descriptor of cuDNN's graphs: its attributes, and results of finalising it.
namespace hios::cuda_emulation {

struct Attribute {
  cudnnBackendAttributeType_t type;
  std::size_t count = 0;
  std::vector<std::byte> bytes;
};

/// A convolution with bias, addend and relu, found in a graph of operations, and the names of its
/// tensors.
struct GraphConvolution {
  Convolution convolution;
  std::int64_t input = 0, weights = 0, bias = 0, addend = 0, output = 0;
};

/// A setting of an engine.
struct KnobChoice {
  cudnnBackendKnobType_t type;
  std::int64_t value;
};

/// An engine of the emulated library.
struct Engine {
  std::int64_t index;
  std::vector<cudnnBackendNumericalNote_t> notes;
  bool compiled = false, plans = true;  ///< `plans` false: it is proposed and then refused
  int lanes = 1;
  bool has_knob = false;
  std::size_t workspace_bytes = 0;
};
const std::vector<Engine>& engines();
/// Returns the engines that a mode proposes for a graph, each with the value of its setting.
struct Proposed {
  const Engine* engine;
  std::int64_t knob;
};
std::vector<Proposed> proposals(cudnnBackendHeurMode_t mode, const GraphConvolution& graph);

}  // namespace hios::cuda_emulation

struct EmulatedDescriptor {
  cudnnBackendDescriptorType_t type;
  bool finalized = false;
  std::map<cudnnBackendAttributeName_t, hios::cuda_emulation::Attribute> attributes{};

  // By type of descriptor, once finalised.
  hios::cuda_emulation::GraphConvolution graph{};
  const hios::cuda_emulation::Engine* engine = nullptr;
  std::vector<hios::cuda_emulation::KnobChoice> knobs{};
  std::vector<hios::cuda_emulation::Proposed> proposed{};

  template <class Value>
  std::vector<Value> all(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<Value> values(found->second.count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::memcpy(&values[i], found->second.bytes.data() + i * sizeof(Value), sizeof(Value));
    }
    return values;
  }
  /// Throws cudnnStatus_t if the attribute is missing.
  template <class Value>
  Value one(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end() || found->second.count != 1) throw CUDNN_STATUS_BAD_PARAM;
    Value value;
    std::memcpy(&value, found->second.bytes.data(), sizeof(value));
    return value;
  }
  bool has(cudnnBackendAttributeName_t name) const { return attributes.contains(name); }
  const EmulatedDescriptor& part(cudnnBackendAttributeName_t name) const {
    return *one<cudnnBackendDescriptor_t>(name);
  }
};

namespace hios::cuda_emulation {

/// Reads a graph of operations: a convolution, then additions of a bias and of a tensor, then a
/// relu, all of these optional. Throws cudnnStatus_t if it is another one, or its tensors do not
/// agree.
GraphConvolution read_graph(const EmulatedDescriptor& graph);

}  // namespace hios::cuda_emulation
