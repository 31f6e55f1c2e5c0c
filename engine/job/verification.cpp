#include "engine/job/verification.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"
#include "engine/backends.h"
#include "engine/run/executor.h"
#include "engine/run/output_regions.h"
#include "hios/base/log.h"
#include "hios/graph/cuts/whole_ranges.h"
#include "hios/graph/fusion/whole_graph.h"
#include "hios/schedule/assignment.h"
#include "mpi/exchange.h"
#include "mpi/shared/shared_arena.h"

namespace hios::job {

namespace {

/// Returns the absolute difference: infinite where one of the two is NaN, or an infinity that the
/// other is not.
double distance(float value, float expected) {
  if (value == expected) return 0;
  const double difference = std::abs(static_cast<double>(value) - static_cast<double>(expected));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

}  // namespace

// Measured over every operator of the four networks (docs/arithmetic.md has the table), whose
// values have about unit variance. The reference backend in fp16 differs by at most 0.023 from
// itself in fp32. It rounds as rarely as possible, hardware more often: so the tolerance is twice
// as large. In tf32 it differs by 0.025 if operands are rounded, as it does. If their low bits are
// truncated, as hardware may do, it differs by 0.66: every product shrinks a little, through a deep
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
    if (std::isnan(values[i]) && std::isnan(expected[i])) {
      ++result.nan;
      continue;
    }
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
                       const std::string& progress, const std::function<bool()>& stop)
    : backend_(backend) {
  const Graph& graph = coarse.graph;
  allocate(coarse);
  const Shape& input_shape = model.tensor(model.input()).shape;
  const auto input =
      backend.allocate(input_shape.size_bytes(backend.element_bytes()), "the model's input");
  std::vector<float> values(static_cast<std::size_t>(input_shape.elements()));
  source.input(model, values);
  write_floats(backend, input->data(), values);

  log::Progress shown(progress);
  std::size_t done = 0;
  for (const OpId op : graph.topological()) {
    if (stop && stop()) throw Stopped();
    if (!progress.empty()) shown.update(done++, graph.size(), -1);
    // Bound for this one run, so that memory never holds the weights of all operators together.
    const std::vector<CoreShare> share = core_shares(1, threads_of[op.index()]);
    const auto bound =
        bind_operator(coarse, model, op, backend, inputs_of(coarse, model, op, *input),
                      outputs_[op.index()].first, share.front(), source);
    const BoundGroup group{bound.get()};
    backend.run_stage(std::span(&group, 1), share, nullptr, nullptr);
    backend.synchronize();  // before the operator is destroyed
  }
}

std::vector<float> OneRankRun::output(OpId op) const {
  const Output& output = outputs_[op.index()];
  return read_floats(backend_, output.first, output.elements);
}

// A judge may have larger elements than the graph.
void OneRankRun::allocate(const CoarseGraph& coarse) {
  const Graph& graph = coarse.graph;
  const auto elements = [&](Bytes bytes) { return bytes / coarse.element_bytes; };
  const OutputRegions regions(coarse, graph.topological());
  buffers_.resize(regions.count());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const auto [region, begin] = regions.of(OpId(v));
    std::unique_ptr<Buffer>& buffer = buffers_[region];
    if (!buffer) {
      const Bytes size_bytes = elements(regions.size_bytes(region)) * backend_.element_bytes();
      buffer = backend_.allocate(size_bytes, graph.op(OpId(v)).name);
    }
    outputs_.push_back({buffer->data() + elements(begin) * backend_.element_bytes(),
                        elements(graph.op(OpId(v)).memory_bytes)});
  }
}

std::vector<const std::byte*> OneRankRun::inputs_of(const CoarseGraph& coarse, const Model& model,
                                                    OpId op, Buffer& input) const {
  const auto after = [&](const std::byte* first, std::int64_t bytes) {
    const auto element = static_cast<std::int64_t>(coarse.element_bytes);
    return first + bytes / element * static_cast<std::int64_t>(backend_.element_bytes());
  };
  std::vector<const std::byte*> inputs;
  for (const TensorId id : coarse.layers(op).inputs) {
    const auto producer = coarse.producer_for(id, op);
    inputs.push_back(
        producer ? after(outputs_[producer->index()].first, coarse.distance(*producer, id, op))
                 : after(input.data(), coarse.distance_from_input(model, id, op)));
  }
  return inputs;
}

std::vector<int> threads_of_operators(const Graph& graph, const ScheduleFile& schedule) {
  std::vector<int> result(graph.size(), 1);
  const Assignment assignment(graph.size(), schedule.schedule);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const AssignedTo& at = assignment[OpId(i)];
    const std::size_t device = at.device.index();
    const std::size_t groups = schedule.schedule.devices[device][at.stage].groups.size();
    result[i] = core_shares(groups, schedule.devices[device].threads)[at.group].threads;
  }
  return result;
}

namespace {

struct OperatorCheck {
  std::size_t position = 0;  ///< in topological order
  std::string name;
  Comparison reference;
  bool bitwise = true;

  static auto fields(auto& self) {
    auto& reference = self.reference;
    return std::tie(self.position, self.name, reference.max_abs, reference.max_rel,
                    reference.outside, reference.nan, self.bitwise);
  }
};

/// Returns the operators whose outputs this rank compares.
std::vector<OpId> to_compare(const RankPlan& plan, Verify verify) {
  if (verify == Verify::kOutputs) return plan.outputs;
  std::vector<OpId> computed;
  for (const Slot& slot : plan.slots) {
    if (!slot.received) computed.push_back(slot.op);
  }
  return computed;
}

using OutputOf = std::function<std::vector<float>(OpId)>;

/// The network that one rank runs to judge a run: the run's own, or the whole of one that was cut.
class Judge {
 public:
  Judge(const CoarseGraph& coarse, const Model& model, bool whole)
      : coarse_(coarse), model_(model) {
    if (!whole || model.whole() == nullptr || coarse.graph.batching() != nullptr) return;
    whole_ = whole_graph(coarse, model);
    ranges_ = whole_ranges(model);
  }

  const CoarseGraph& coarse() const { return whole_ ? *whole_ : coarse_; }
  const Model& model() const { return whole_ ? *model_.whole() : model_; }

  /// Returns the threads of its operators. `of_run`: those of the run's operators; `all`: those of
  /// the backend.
  std::vector<int> threads(std::vector<int> of_run, int all) const {
    if (!whole_) return of_run;
    std::vector<int> threads(whole_->graph.size(), all);
    for (std::size_t i = 0; i < of_run.size(); ++i) {
      const bool is_shard = model_.layer(coarse_.operators[i].layers.back()).range.has_value();
      const auto op = whole_operator(OpId(i));
      if (op && !is_shard) threads[op->index()] = of_run[i];
    }
    return threads;
  }

  /// Returns the values that an operator of the run shall have; empty where it only moves or joins
  /// values that are no output of an operator of the whole.
  std::optional<std::vector<float>> output(const OneRankRun& run, OpId op) const {
    if (!whole_) return run.output(op);
    const auto producer = whole_operator(op);
    if (!producer) return {};
    const WholeRange& made = ranges_[coarse_.layers(op).output.index()];
    return values_in(run.output(*producer), model().tensor(made.tensor).shape, made.range);
  }

 private:
  /// Returns the operator of the whole of whose output an operator of the run has a range.
  std::optional<OpId> whole_operator(OpId op) const {
    const TensorId tensor = ranges_[coarse_.layers(op).output.index()].tensor;
    const auto producer = whole_->producer(tensor);
    return producer && whole_->layers(*producer).output == tensor ? producer : std::nullopt;
  }

  const CoarseGraph& coarse_;
  const Model& model_;
  std::optional<CoarseGraph> whole_;
  std::vector<WholeRange> ranges_;  // by the run's tensors
};

/// All ranks go from operator to operator together, including those that compare nothing: so each
/// sees that the others work, and all stop together. `stop` is collective.
std::vector<OperatorCheck> compare_here(const EndedRun& run, const VerifyOptions& options,
                                        const OutputOf& output, const std::function<bool()>& stop) {
  const auto& [coarse, model, backend, transport, source, shared] = run.rank;
  const Graph& graph = coarse.graph;
  const Judge judge(coarse, model, options.whole);
  const std::size_t judged = judge.coarse().graph.size();
  const std::vector<OpId> ops = output ? to_compare(run.plan, options.what) : std::vector<OpId>();
  if (ops.empty()) {
    const std::size_t runs = (options.alike ? 1 : 0) + (options.reference ? 1 : 0);
    for (std::size_t i = 0; i < judged * runs; ++i) {
      if (stop()) throw OneRankRun::Stopped();
    }
    return {};
  }
  const auto reference = find_backend("reference").make({});
  std::optional<OneRankRun> expected, alone;
  if (options.reference) {
    expected.emplace(judge.coarse(), judge.model(), *reference, std::vector<int>(judged, 1), source,
                     "computing the reference", stop);
  }
  if (options.alike) {
    const std::vector<int> threads =
        judge.threads(threads_of_operators(graph, run.schedule), backend.threads());
    alone.emplace(judge.coarse(), judge.model(), backend, threads, source, "computing on one rank",
                  stop);
  }
  std::vector<std::size_t> position(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) position[graph.topological()[i].index()] = i;
  std::vector<OperatorCheck> checks;
  for (const OpId op : ops) {
    const auto values = output(op);
    OperatorCheck check{position[op.index()], graph.op(op).name, {}};
    const auto by_reference = expected ? judge.output(*expected, op) : std::nullopt;
    const auto by_one = alone ? judge.output(*alone, op) : std::nullopt;
    if (by_reference) check.reference = compare(values, *by_reference, options.tolerance);
    if (by_one) check.bitwise = compare(values, *by_one, options.tolerance).bitwise;
    checks.push_back(std::move(check));
  }
  return checks;
}

/// Returns nothing where it was stopped.
std::optional<std::vector<OperatorCheck>> try_to_compare(const EndedRun& run,
                                                         const VerifyOptions& options,
                                                         const OutputOf& output) {
  const auto stop = [&] {
    double stopped = options.stop && options.stop() ? 1 : 0;
    run.rank.transport.all_reduce_max({&stopped, 1});
    return stopped > 0;
  };
  try {
    return compare_here(run, options, output, stop);
  } catch (const OneRankRun::Stopped&) {
    return {};
  }
}

/// Gathers the checks of all ranks, in topological order.
std::vector<OperatorCheck> gather_checks(mpi::Transport& transport,
                                         const std::vector<OperatorCheck>& mine) {
  std::vector<OperatorCheck> all;
  for (std::vector<OperatorCheck>& of_rank : mpi::gather(transport, mine))
    std::move(of_rank.begin(), of_rank.end(), std::back_inserter(all));
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.position < b.position; });
  return all;
}

Verified combine(const std::vector<OperatorCheck>& checks) {
  Verified verified;
  verified.operators = checks.size();
  for (const OperatorCheck& check : checks) {
    if (verified.worst_operator.empty() || check.reference.max_abs > verified.worst.max_abs) {
      verified.worst_operator = check.name;
    }
    verified.worst.max_abs = std::max(verified.worst.max_abs, check.reference.max_abs);
    verified.worst.max_rel = std::max(verified.worst.max_rel, check.reference.max_rel);
    verified.worst.outside += check.reference.outside;
    verified.worst.nan += check.reference.nan;
    if (check.reference.outside && verified.first_outside.empty())
      verified.first_outside = check.name;
    if (!check.bitwise && verified.first_unequal.empty()) verified.first_unequal = check.name;
  }
  return verified;
}

}  // namespace

void Verified::add(const Verified& other) {
  if (other.worst.max_abs > worst.max_abs) worst_operator = other.worst_operator;
  worst.max_abs = std::max(worst.max_abs, other.worst.max_abs);
  worst.max_rel = std::max(worst.max_rel, other.worst.max_rel);
  worst.outside += other.worst.outside;
  worst.nan += other.worst.nan;
  if (first_outside.empty()) first_outside = other.first_outside;
  if (first_unequal.empty()) first_unequal = other.first_unequal;
  operators += other.operators;
}

std::optional<Verified> verify_run(const EndedRun& run, const VerifyOptions& options) {
  mpi::Transport& transport = run.rank.transport;
  const EndedRun judged{
      .rank = {run.rank.coarse, run.rank.model, run.rank.backend, transport, run.judge},
      .judge = run.judge,
      .schedule = run.schedule,
      .plan = run.plan,
      .loads = run.loads,
      .output = run.output};
  std::optional<std::vector<OperatorCheck>> mine;
  if (options.what == Verify::kOperators) {
    const RankPlan whole_plan =
        plan_rank(run.rank.coarse, run.schedule.schedule, transport.rank(),
                  {.keep_all = true, .any_order = run.plan.any_order, .sharers = run.sharers});
    const auto arena = mpi::open_shared_arena(transport, run.sharers, whole_plan.shared_bytes);
    RankContext rank = run.rank;
    rank.shared_arena = arena ? arena->data() : nullptr;
    Executor whole(rank, whole_plan, {.loads = run.loads, .overwrites_evicted = true});
    whole.forget_parameters();
    transport.barrier();
    whole.run_once();
    mine = try_to_compare(judged, options, [&](OpId op) { return whole.output(op); });
    whole.close();
  } else {
    mine = try_to_compare(judged, options, run.output);
  }
  if (!mine) return {};
  Verified verified = combine(gather_checks(transport, *mine));
  verified.compared_bits = options.alike;
  return verified;
}

}  // namespace hios::job
