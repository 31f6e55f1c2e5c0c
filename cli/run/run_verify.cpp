#include "cli/run/run_verify.h"

#include "cli/gpu_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

namespace hios::cli {

namespace {

struct OperatorCheck {
  std::size_t position;  ///< in topological order
  std::string name;
  Comparison reference;
  bool bitwise;
};

/// The operators whose outputs this rank must answer for.
std::vector<OpId> to_compare(const RankPlan& plan, Verify verify) {
  if (verify == Verify::kOutputs) return plan.outputs;
  std::vector<OpId> computed;
  for (const Slot& slot : plan.slots) {
    if (!slot.received) computed.push_back(slot.op);
  }
  return computed;
}

/// Whether all ranks compute in one way, so that one rank's bits can be asked of all.
bool alike(const RunJob& job) {
  const auto devices = job.platform.devices();
  return same_gpus(job.gpus) &&
         std::all_of(job.backends.begin(), job.backends.end(),
                     [&](const std::string& name) { return name == job.backends.front(); }) &&
         std::all_of(devices.begin(), devices.end(), [&](const Device& device) {
           return device.precision == devices.front().precision;
         });
}

std::vector<OperatorCheck> compare_here(const RunJob& job, Backend& backend, TensorSource& source,
                                        const std::vector<OpId>& ops, const Executor& executor) {
  const CoarseGraph& coarse = job.network.coarse;
  const auto reference = find_backend("reference").make({});
  const OneRankRun expected(coarse, job.network.model, *reference,
                            std::vector<int>(coarse.graph.size(), 1), source,
                            "computing the reference");
  std::optional<OneRankRun> alone;
  if (alike(job)) {
    alone.emplace(coarse, job.network.model, backend,
                  threads_of_operators(coarse.graph, job.schedule), source,
                  "computing on one rank");
  }
  std::vector<std::size_t> position(coarse.graph.size());
  for (std::size_t i = 0; i < coarse.graph.size(); ++i)
    position[coarse.graph.topological()[i].index()] = i;
  std::vector<OperatorCheck> checks;
  for (const OpId op : ops) {
    const auto values = executor.output(op);
    checks.push_back({position[op.index()], coarse.graph.op(op).name,
                      compare(values, expected.output(op), job.tolerance),
                      !alone || compare(values, alone->output(op), job.tolerance).bitwise});
  }
  return checks;
}

// Errors cross ranks as text; JSON has no infinity, so NaN and infinite errors become the largest
// double.
double finite(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::max();
}

std::string to_text(const std::vector<OperatorCheck>& checks) {
  Json list = Json::array();
  for (const OperatorCheck& check : checks) {
    list.push_back({check.position, check.name, finite(check.reference.max_abs),
                    finite(check.reference.max_rel), check.reference.outside, check.bitwise});
  }
  return list.dump();
}

std::vector<OperatorCheck> gather(mpi::Transport& transport,
                                  const std::vector<OperatorCheck>& mine) {
  std::vector<OperatorCheck> all;
  for (const std::string& text : transport.all_gather(to_text(mine))) {
    for (const Json& entry : parse_json(text, "checks of a rank")) {
      OperatorCheck check{entry[0], entry[1], {}, entry[5]};
      check.reference.max_abs = entry[2];
      check.reference.max_rel = entry[3];
      check.reference.outside = entry[4];
      all.push_back(std::move(check));
    }
  }
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
    if (check.reference.outside && verified.first_outside.empty())
      verified.first_outside = check.name;
    if (!check.bitwise && verified.first_unequal.empty()) verified.first_unequal = check.name;
  }
  return verified;
}

}  // namespace

Verified verify_run(const RunJob& job, mpi::Transport& transport, Backend& backend,
                    TensorSource& source, const RankPlan& plan, const Executor& executor) {
  const Executor* checked = &executor;
  std::unique_ptr<RankPlan> whole_plan;
  std::unique_ptr<Executor> whole;
  if (job.verify == Verify::kOperators) {
    whole_plan = std::make_unique<RankPlan>(
        plan_rank(job.network.coarse, job.schedule.schedule, transport.rank(), {.keep_all = true}));
    whole = std::make_unique<Executor>(job.network.coarse, job.network.model, *whole_plan, backend,
                                       transport, source);
    transport.barrier();
    whole->run_once();
    checked = whole.get();
  }
  const std::vector<OpId> ops = to_compare(plan, job.verify);
  std::vector<OperatorCheck> mine;
  if (!ops.empty()) mine = compare_here(job, backend, source, ops, *checked);
  if (whole) whole->close();
  Verified verified = combine(gather(transport, mine));
  verified.compared_bits = alike(job);
  return verified;
}

}  // namespace hios::cli
