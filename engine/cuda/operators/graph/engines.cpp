#include "engine/cuda/operators/graph/engines.h"

#include <algorithm>

namespace hios::cuda::graph {
namespace {

/// The heuristics whose proposals are used, in this order, and the maximum number of each. cuDNN
/// makes some forty for a convolution, the best first, and each costs a trial. A guesses quickly, B
/// more closely, and the last knows engines that run if no other does.
struct Mode {
  cudnnBackendHeurMode_t mode;
  std::size_t most;
};
constexpr Mode kModes[] = {
    {CUDNN_HEUR_MODE_A, 8}, {CUDNN_HEUR_MODE_B, 4}, {CUDNN_HEUR_MODE_FALLBACK, 3}};
/// Maximum number of engines that are compiled first, which takes up to a second each.
constexpr std::size_t kMostCompiled = 3;

EngineNotes notes_of(const Descriptor& engine) {
  EngineNotes notes;
  for (const cudnnBackendNumericalNote_t note : engine.get_all<cudnnBackendNumericalNote_t>(
           CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_NUMERICAL_NOTE_TYPE_COUNT)) {
    switch (note) {
      case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
        notes.tensor_cores = true;
        break;
      case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
        notes.narrower_inputs = true;
        break;
      case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
        notes.narrower_sums = true;
        break;
      case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
        notes.nondeterministic = true;
        break;
      case CUDNN_NUMERICAL_NOTE_FFT:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
      case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
        notes.transforms = true;
        break;
      default:  // the propagation of NaN
        break;
    }
  }
  const auto behaviour = engine.get_all<cudnnBackendBehaviorNote_t>(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE,
                                                                    CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
  notes.compiled = std::find(behaviour.begin(), behaviour.end(),
                             CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) != behaviour.end();
  return notes;
}

EngineChoice choice_of(const Descriptor& configuration, const Descriptor& engine) {
  EngineChoice choice;
  choice.engine = engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  for (const Descriptor& knob : configuration.get_descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                                              CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR,
                                                              CUDNN_KNOB_TYPE_COUNTS)) {
    choice.knobs.push_back(
        {static_cast<int>(knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE)),
         knob.get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE)});
  }
  std::ranges::sort(choice.knobs, {}, &Knob::type);
  return choice;
}

std::vector<Descriptor> proposals(const OperationGraph& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.descriptor())
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  if (const Descriptor* const properties = graph.target().properties) {
    heuristic.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties);
  }
  heuristic.finalize();
  return heuristic.get_descriptors(
      CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
      heuristic.count(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR));
}

struct Proposal {
  EngineNotes notes;
  EngineChoice choice;
};

/// Returns the proposal; nothing if no engine has this arithmetic, or none says so.
std::optional<Proposal> usable(const Descriptor& configuration, Precision precision,
                               bool deterministic) {
  const auto engines = configuration.get_descriptors(CUDNN_ATTR_ENGINECFG_ENGINE,
                                                     CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  if (engines.empty()) return {};
  try {
    const EngineNotes notes = notes_of(engines.front());
    if (!fits(notes, precision) || (deterministic && notes.nondeterministic)) return {};
    return Proposal{notes, choice_of(configuration, engines.front())};
  } catch (const RunError&) {
    return {};  // an engine that does not describe itself
  }
}

Descriptor make_engine(const OperationGraph& graph, std::int64_t index) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  engine.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph.descriptor())
      .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, index);
  if (const Descriptor* const properties = graph.target().properties) {
    engine.set(CUDNN_ATTR_ENGINE_DEVICEPROP, *properties);
  }
  engine.finalize();
  return engine;
}

std::vector<Descriptor> make_knobs(const std::vector<Knob>& knobs) {
  std::vector<Descriptor> made;
  for (const Knob& knob : knobs) {
    Descriptor& choice = made.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    choice.set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, static_cast<cudnnBackendKnobType_t>(knob.type))
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, knob.value);
    choice.finalize();
  }
  return made;
}

}  // namespace

std::vector<EngineChoice> proposed_engines(const OperationGraph& graph, Precision precision,
                                           bool deterministic) {
  std::vector<EngineChoice> choices;
  std::size_t compiled = 0;
  for (const Mode& mode : kModes) {
    std::size_t taken = 0;
    try {
      for (const Descriptor& configuration : proposals(graph, mode.mode)) {
        if (taken == mode.most) break;
        auto proposal = usable(configuration, precision, deterministic);
        if (!proposal) continue;
        const EngineChoice& choice = proposal->choice;
        if (std::find(choices.begin(), choices.end(), choice) != choices.end()) continue;
        if (proposal->notes.compiled && ++compiled > kMostCompiled) continue;
        choices.push_back(choice);
        ++taken;
      }
    } catch (const RunError&) {
      continue;  // not every mode has an answer to every graph
    }
  }
  return choices;
}

ExecutionPlan::ExecutionPlan(const OperationGraph& graph, const EngineChoice& choice,
                             Precision precision)
    : handle_(graph.target().handle),
      has_bias_(graph.has_bias()),
      has_addend_(graph.has_addend()),
      engine_(make_engine(graph, choice.engine)),
      knobs_(make_knobs(choice.knobs)),
      configuration_(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
      plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  if (!fits(notes_of(engine_), precision)) {
    throw RunError("cuDNN's engine " + std::to_string(choice.engine) + " does not compute in " +
                   std::string(to_string(precision)));
  }
  configuration_.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine_);
  if (!knobs_.empty()) {
    configuration_.set_all(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, std::span<const Descriptor>(knobs_));
  }
  configuration_.finalize();
  plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration_);
  if (handle_ != nullptr) {
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle_);
  } else {
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *graph.target().properties);
  }
  plan_.finalize();
  workspace_bytes_ = plan_.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

Descriptor ExecutionPlan::describe(const Pointers& pointers) const {
  using Graph = OperationGraph;
  const auto [input, weights, output, workspace, bias, addend] = pointers;
  std::vector<std::int64_t> names{Graph::kInput, Graph::kWeights, Graph::kOutput};
  std::vector<void*> data{input, weights, output};
  if (has_bias_) {
    names.push_back(Graph::kBias);
    data.push_back(bias);
  }
  if (has_addend_) {
    names.push_back(Graph::kAddend);
    data.push_back(addend);
  }
  Descriptor operands(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  operands.set_all<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, names)
      .set_all<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, data)
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace);
  operands.finalize();
  return operands;
}

void ExecutionPlan::queue(const ConvolutionOperands& operands, std::byte* workspace,
                          std::string_view doing) {
  // The API takes even its inputs as pointers to mutable memory.
  const Pointers pointers{const_cast<void*>(operands.input),
                          const_cast<void*>(operands.weights),
                          operands.output,
                          workspace,
                          const_cast<void*>(operands.bias),
                          const_cast<void*>(operands.addend)};
  if (!operands_ || pointers != described_) {
    operands_ = describe(pointers);
    described_ = pointers;
  }
  HIOS_CUDA(cudnnBackendExecute(handle_, plan_.get(), operands_->get()), doing);
}

}  // namespace hios::cuda::graph
