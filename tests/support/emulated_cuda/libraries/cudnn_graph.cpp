// cuDNN's graphs of operations: descriptors with attributes, of which those are understood that
// engine/cuda uses.
#include <algorithm>
#include <cstring>

#include "support/emulated_cuda/libraries/cudnn_handle.h"
#include "support/emulated_cuda/libraries/descriptor.h"
#include "support/emulated_cuda/runtime/settings.h"

using namespace hios::cuda_emulation;

namespace {

std::size_t size_of(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    default:
      return 4;
  }
}

const EmulatedDescriptor& finalized(const EmulatedDescriptor& descriptor) {
  if (!descriptor.finalized) throw CUDNN_STATUS_BAD_PARAM;
  return descriptor;
}

void finalize_engine(EmulatedDescriptor& engine) {
  engine.graph = finalized(engine.part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH)).graph;
  const auto index = engine.one<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  for (const Engine& known : engines()) {
    if (known.index == index) engine.engine = &known;
  }
  if (engine.engine == nullptr) throw CUDNN_STATUS_NOT_SUPPORTED;
}

void finalize_configuration(EmulatedDescriptor& configuration) {
  const EmulatedDescriptor& engine = finalized(configuration.part(CUDNN_ATTR_ENGINECFG_ENGINE));
  configuration.graph = engine.graph;
  configuration.engine = engine.engine;
  for (const auto choice :
       configuration.all<cudnnBackendDescriptor_t>(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)) {
    const auto type =
        finalized(*choice).one<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE);
    const auto value = choice->one<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
    if (!engine.engine->has_knob || type != CUDNN_KNOB_TYPE_TILE_SIZE || value < 0 || value > 1) {
      throw CUDNN_STATUS_NOT_SUPPORTED;
    }
    configuration.knobs.push_back({type, value});
  }
}

void finalize_plan(EmulatedDescriptor& plan) {
  const EmulatedDescriptor& configuration =
      finalized(plan.part(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
  if (!plan.has(CUDNN_ATTR_EXECUTION_PLAN_HANDLE) &&
      !plan.has(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP)) {
    throw CUDNN_STATUS_BAD_PARAM;
  }
  if (!configuration.engine->plans) throw CUDNN_STATUS_NOT_SUPPORTED;
  plan.graph = configuration.graph;
  plan.engine = configuration.engine;
  plan.knobs = configuration.knobs;
  Convolution& convolution = plan.graph.convolution;
  convolution.lanes = plan.engine->lanes;
  if (!plan.knobs.empty() && plan.knobs.front().value == 1) convolution.lanes *= 2;
  const auto& notes = plan.engine->notes;
  convolution.rounds_to_tf32 =
      !convolution.halves && std::find(notes.begin(), notes.end(),
                                       CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) != notes.end();
}

void finalize(EmulatedDescriptor& descriptor) {
  switch (descriptor.type) {
    case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
      if (!settings().libraries) throw CUDNN_STATUS_NOT_SUPPORTED;
      descriptor.graph = read_graph(descriptor);
      break;
    case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
      descriptor.graph = finalized(descriptor.part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)).graph;
      descriptor.proposed = proposals(
          descriptor.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE), descriptor.graph);
      break;
    case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
      finalize_engine(descriptor);
      break;
    case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
      finalize_configuration(descriptor);
      break;
    case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
      finalize_plan(descriptor);
      break;
    default:
      break;
  }
  descriptor.finalized = true;
}

/// Writes values that a finalised descriptor knows without having been given them.
template <class Value>
void put(const std::vector<Value>& known, std::int64_t most, std::int64_t* count, void* values) {
  *count = static_cast<std::int64_t>(known.size());
  const auto written = std::min(known.size(), static_cast<std::size_t>(most));
  if (written > 0) std::memcpy(values, known.data(), written * sizeof(Value));
}

/// Fills descriptors that the caller made.
template <class Value, class Fill>
void fill(const std::vector<Value>& known, std::int64_t most, std::int64_t* count, void* values,
          Fill fill_one) {
  *count = static_cast<std::int64_t>(known.size());
  auto* const made = static_cast<cudnnBackendDescriptor_t*>(values);
  for (std::size_t i = 0; i < std::min(known.size(), static_cast<std::size_t>(most)); ++i) {
    fill_one(*made[i], known[i]);
    made[i]->finalized = true;
  }
}

void get(const EmulatedDescriptor& descriptor, cudnnBackendAttributeName_t name, std::int64_t most,
         std::int64_t* count, void* values) {
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return fill(descriptor.proposed, most, count, values,
                  [](EmulatedDescriptor& to, const Proposed& one) {
                    to.engine = one.engine;
                    if (one.engine->has_knob) to.knobs = {{CUDNN_KNOB_TYPE_TILE_SIZE, one.knob}};
                  });
    case CUDNN_ATTR_ENGINECFG_ENGINE:
      return fill(std::vector{descriptor.engine}, most, count, values,
                  [](EmulatedDescriptor& to, const Engine* one) { to.engine = one; });
    case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES:
      return fill(descriptor.knobs, most, count, values,
                  [](EmulatedDescriptor& to, const KnobChoice& one) { to.knobs = {one}; });
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE:
      return put(std::vector{descriptor.knobs.at(0).type}, most, count, values);
    case CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE:
      return put(std::vector{descriptor.knobs.at(0).value}, most, count, values);
    case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
      return put(std::vector{descriptor.engine->index}, most, count, values);
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return put(descriptor.engine->notes, most, count, values);
    case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
      return put(std::vector<cudnnBackendBehaviorNote_t>(descriptor.engine->compiled ? 1 : 0,
                                                         CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION),
                 most, count, values);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
      return put(std::vector{static_cast<std::int64_t>(descriptor.engine->workspace_bytes)}, most,
                 count, values);
    default:
      throw CUDNN_STATUS_NOT_SUPPORTED;
  }
}

template <class Step>
cudnnStatus_t status_of(Step step) {
  try {
    step();
    return CUDNN_STATUS_SUCCESS;
  } catch (cudnnStatus_t status) {
    return status;
  }
}

cudnnStatus_t execute(const EmulatedCudnn& handle, const EmulatedDescriptor& plan,
                      const EmulatedDescriptor& operands) {
  const auto names = operands.all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto data = operands.all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  const auto named = [&](std::int64_t name) {
    const auto found = std::find(names.begin(), names.end(), name);
    const auto index = static_cast<std::size_t>(found - names.begin());
    if (index >= data.size()) throw CUDNN_STATUS_BAD_PARAM;
    return data[index];
  };
  const GraphConvolution& graph = plan.graph;
  const std::string name = "graph " + std::to_string(plan.engine->index);
  const ConvolutionData pointers{named(graph.input),
                                 named(graph.weights),
                                 graph.convolution.bias ? named(graph.bias) : nullptr,
                                 named(graph.output),
                                 operands.one<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE),
                                 plan.engine->workspace_bytes,
                                 graph.convolution.addend ? named(graph.addend) : nullptr};
  return queue_convolution(name.c_str(), graph.convolution, pointers, handle.stream) == cudaSuccess
             ? CUDNN_STATUS_SUCCESS
             : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // namespace

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  *descriptor = new EmulatedDescriptor{type};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  return status_of([&] { finalize(*descriptor); });
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, std::int64_t count,
                                       const void* values) {
  if (descriptor->finalized) return CUDNN_STATUS_BAD_PARAM;
  Attribute& attribute = descriptor->attributes[name];
  attribute.type = type;
  attribute.count = static_cast<std::size_t>(count);
  const auto* const bytes = static_cast<const std::byte*>(values);
  attribute.bytes.assign(bytes, bytes + attribute.count * size_of(type));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, std::int64_t most,
                                       std::int64_t* count, void* values) {
  if (!descriptor->finalized) return CUDNN_STATUS_BAD_PARAM;
  return status_of([&] { get(*descriptor, name, most, count, values); });
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t operands) {
  if (!plan->finalized || !operands->finalized) return CUDNN_STATUS_BAD_PARAM;
  cudnnStatus_t result = CUDNN_STATUS_SUCCESS;
  const cudnnStatus_t thrown = status_of([&] { result = execute(*handle, *plan, *operands); });
  return thrown == CUDNN_STATUS_SUCCESS ? result : thrown;
}
