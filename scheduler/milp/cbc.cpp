#include "scheduler/milp/cbc.h"

#include <Cbc_C_Interface.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
// CoinUtils 2.11 leaks 16 bytes in presolve_dupmajor(), which is no leak of ours.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libCoinUtils\n"; }
#endif

namespace hios::scheduler::milp {
namespace {

struct Destroy {
  void operator()(Cbc_Model* model) const { Cbc_deleteModel(model); }
};
using Handle = std::unique_ptr<Cbc_Model, Destroy>;

/// Returns the bound with infinities as Cbc represents them.
double finite(double bound) {
  return std::clamp(bound, -std::numeric_limits<double>::max(), std::numeric_limits<double>::max());
}

/// Loads the program column by column, as Cbc reads it.
void load(Cbc_Model* model, const Program& program) {
  std::vector<double> lower, upper, cost, row_lower, row_upper;
  std::vector<std::vector<Program::Term>> columns(program.columns.size());
  for (std::size_t r = 0; r < program.rows.size(); ++r) {
    row_lower.push_back(finite(program.rows[r].lower));
    row_upper.push_back(finite(program.rows[r].upper));
    for (const Program::Term& term : program.rows[r].terms) {
      columns[term.column].push_back({static_cast<std::uint32_t>(r), term.factor});
    }
  }
  std::vector<CoinBigIndex> begin{0};
  std::vector<int> row;
  std::vector<double> factor;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    lower.push_back(finite(program.columns[c].lower));
    upper.push_back(finite(program.columns[c].upper));
    cost.push_back(program.columns[c].cost);
    for (const Program::Term& term : columns[c]) {
      row.push_back(static_cast<int>(term.column));
      factor.push_back(term.factor);
    }
    begin.push_back(static_cast<CoinBigIndex>(row.size()));
  }
  Cbc_loadProblem(model, static_cast<int>(columns.size()), static_cast<int>(program.rows.size()),
                  begin.data(), row.data(), factor.data(), lower.data(), upper.data(), cost.data(),
                  row_lower.data(), row_upper.data());
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (program.columns[c].integer) Cbc_setInteger(model, static_cast<int>(c));
  }
}

Handle make(const Program& program, const std::vector<double>& start, const Limits& limits) {
  Handle model(Cbc_newModel());
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setParameter(model.get(), "slogLevel", "0");
  // Its preprocessing aborts the process by an assertion on some small programs.
  Cbc_setParameter(model.get(), "preprocess", "off");
  Cbc_setParameter(model.get(), "timeMode", "elapsed");
  Cbc_setParameter(model.get(), "integerTolerance", "1e-9");
  Cbc_setParameter(model.get(), "primalTolerance", "1e-9");
  load(model.get(), program);
  Cbc_setObjSense(model.get(), 1);
  Cbc_setAllowableFractionGap(model.get(), limits.relative_gap);
  Cbc_setAllowableGap(model.get(), 0);
  if (!start.empty()) {
    std::vector<int> columns(start.size());
    for (std::size_t c = 0; c < start.size(); ++c) columns[c] = static_cast<int>(c);
    Cbc_setMIPStartI(model.get(), static_cast<int>(start.size()), columns.data(), start.data());
  }
  return model;
}

/// Returns the mutex of all calls of Cbc_solve(), which sets process-wide parameters: concurrent
/// calls would read each other's.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

Answer run(const Program& program, const std::vector<double>& start, const Limits& limits,
           std::int64_t nodes) {
  const std::lock_guard lock(one_at_a_time());
  const Handle model = make(program, start, limits);
  if (limits.deadline.has_time_limit()) {
    Cbc_setMaximumSeconds(model.get(), limits.deadline.seconds_left());
  }
  if (nodes > 0) {
    Cbc_setMaximumNodes(model.get(), static_cast<int>(std::min<std::int64_t>(nodes, INT_MAX)));
  }
  Cbc_solve(model.get());
  Answer answer;
  if (Cbc_isProvenInfeasible(model.get()) != 0) {
    answer.status = Status::kInfeasible;
    return answer;
  }
  if (Cbc_isAbandoned(model.get()) != 0 || Cbc_isContinuousUnbounded(model.get()) != 0) {
    answer.status = Status::kFailed;
    answer.message = "Cbc abandoned the program";
    return answer;
  }
  const bool optimal = Cbc_isProvenOptimal(model.get()) != 0;
  const double* values = Cbc_bestSolution(model.get());
  // without integer columns
  if (values == nullptr && optimal) values = Cbc_getColSolution(model.get());
  answer.bound = Cbc_getBestPossibleObjValue(model.get());
  if (values == nullptr) return answer;
  answer.values.assign(values, values + program.columns.size());
  answer.cost = cost(program, answer.values);
  answer.status = optimal ? Status::kOptimal : Status::kFeasible;
  // Its bound at the end is that of the last node that it visited.
  if (optimal) answer.bound = answer.cost - limits.relative_gap * std::abs(answer.cost);
  return answer;
}

Answer solve(const Program& program, const std::vector<double>& start, const Limits& limits) {
  if (!limits.deadline.can_expire()) return run(program, start, limits, limits.nodes);
  // It cannot be interrupted, so it is run again from scratch with twice the nodes.
  std::int64_t nodes = 100;
  while (true) {
    const bool last = limits.nodes > 0 && nodes >= limits.nodes;
    Answer answer = run(program, start, limits, last ? limits.nodes : nodes);
    const bool ended = answer.status != Status::kFeasible && answer.status != Status::kUnknown;
    if (ended || last || limits.deadline.expired()) return answer;
    nodes *= 2;
  }
}

}  // namespace

Solver cbc() { return {"cbc", Cbc_getVersion(), solve}; }

}  // namespace hios::scheduler::milp
