#include "scheduler/milp/highs.h"

#include <interfaces/highs_c_api.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace hios::scheduler::milp {
namespace {

struct Destroy {
  void operator()(void* highs) const { Highs_destroy(highs); }
};
using Handle = std::unique_ptr<void, Destroy>;

/// The program row by row, as HiGHS reads it.
struct Matrix {
  std::vector<double> cost, column_lower, column_upper, row_lower, row_upper, factor;
  std::vector<HighsInt> begin, column, integrality;

  explicit Matrix(const Program& program) {
    for (const Program::Column& c : program.columns) {
      cost.push_back(c.cost);
      column_lower.push_back(c.lower);
      column_upper.push_back(c.upper);
      integrality.push_back(c.integer ? kHighsVarTypeInteger : kHighsVarTypeContinuous);
    }
    for (const Program::Row& row : program.rows) {
      begin.push_back(static_cast<HighsInt>(factor.size()));
      row_lower.push_back(row.lower);
      row_upper.push_back(row.upper);
      for (const Program::Term& term : row.terms) {
        column.push_back(static_cast<HighsInt>(term.column));
        factor.push_back(term.factor);
      }
    }
  }
};

Handle make() {
  Handle highs(Highs_create());
  Highs_setBoolOptionValue(highs.get(), "output_flag", 0);
  Highs_setIntOptionValue(highs.get(), "threads", 1);
  // The placement columns multiply times as long as the whole schedule: a value that is not quite 0
  // would let operators overlap.
  Highs_setDoubleOptionValue(highs.get(), "mip_feasibility_tolerance", 1e-9);
  Highs_setDoubleOptionValue(highs.get(), "primal_feasibility_tolerance", 1e-9);
  Highs_setDoubleOptionValue(highs.get(), "dual_feasibility_tolerance", 1e-9);
  return highs;
}

void ask_to_stop(int, const char*, const HighsCallbackDataOut*, HighsCallbackDataIn* in,
                 void* deadline) {
  if (static_cast<const Deadline*>(deadline)->expired()) in->user_interrupt = 1;
}

void limit(void* highs, const Limits& limits) {
  Highs_setDoubleOptionValue(highs, "mip_rel_gap", limits.relative_gap);
  Highs_setDoubleOptionValue(highs, "mip_abs_gap", 0);
  if (limits.nodes > 0 && limits.nodes < std::numeric_limits<HighsInt>::max()) {
    Highs_setIntOptionValue(highs, "mip_max_nodes", static_cast<HighsInt>(limits.nodes));
  }
  // Presolve and cuts check this clock more often than they call back.
  if (limits.deadline.has_time_limit()) {
    Highs_setDoubleOptionValue(highs, "time_limit", limits.deadline.seconds_left());
  }
  if (!limits.deadline.can_expire()) return;
  Highs_setCallback(highs, ask_to_stop, const_cast<Deadline*>(&limits.deadline));
  for (const HighsInt kind : {kHighsCallbackSimplexInterrupt, kHighsCallbackMipInterrupt}) {
    Highs_startCallback(highs, kind);
  }
}

Status status_of(HighsInt status, bool has_values) {
  switch (status) {
    case kHighsModelStatusOptimal:
      return Status::kOptimal;
    case kHighsModelStatusInfeasible:
      return Status::kInfeasible;
    case kHighsModelStatusTimeLimit:
    case kHighsModelStatusIterationLimit:
    case kHighsModelStatusSolutionLimit:
    case kHighsModelStatusInterrupt:
      return has_values ? Status::kFeasible : Status::kUnknown;
    default:
      return Status::kFailed;
  }
}

Answer answer_of(void* highs, const Program& program, bool integers) {
  Answer answer;
  const HighsInt status = Highs_getModelStatus(highs);
  HighsInt solution = 0;
  Highs_getIntInfoValue(highs, "primal_solution_status", &solution);
  const bool has_values = solution == kHighsSolutionStatusFeasible;
  answer.status = status_of(status, has_values);
  if (answer.status == Status::kFailed) {
    answer.message = "HiGHS ended with its model status " + std::to_string(status);
    return answer;
  }
  if (has_values) {
    answer.values.resize(program.columns.size());
    std::vector<double> duals(program.columns.size()), rows(program.rows.size()),
        row_duals(program.rows.size());
    Highs_getSolution(highs, answer.values.data(), duals.data(), rows.data(), row_duals.data());
    Highs_getDoubleInfoValue(highs, "objective_function_value", &answer.cost);
  }
  if (integers) {
    Highs_getDoubleInfoValue(highs, "mip_dual_bound", &answer.bound);
  } else if (answer.status == Status::kOptimal) {
    answer.bound = answer.cost;
  }
  return answer;
}

Answer solve(const Program& program, const std::vector<double>& start, const Limits& limits) {
  const Handle highs = make();
  const Matrix matrix(program);
  bool integers = false;
  for (const Program::Column& column : program.columns) integers = integers || column.integer;
  limit(highs.get(), limits);
  const HighsInt passed = Highs_passMip(
      highs.get(), static_cast<HighsInt>(program.columns.size()),
      static_cast<HighsInt>(program.rows.size()), static_cast<HighsInt>(matrix.factor.size()),
      kHighsMatrixFormatRowwise, kHighsObjSenseMinimize, 0, matrix.cost.data(),
      matrix.column_lower.data(), matrix.column_upper.data(), matrix.row_lower.data(),
      matrix.row_upper.data(), matrix.begin.data(), matrix.column.data(), matrix.factor.data(),
      integers ? matrix.integrality.data() : nullptr);
  if (passed == kHighsStatusError) {
    return {Status::kFailed, {}, kInfinity, -kInfinity, "HiGHS rejected the program"};
  }
  if (!start.empty()) Highs_setSolution(highs.get(), start.data(), nullptr, nullptr, nullptr);
  Highs_run(highs.get());
  return answer_of(highs.get(), program, integers);
}

}  // namespace

Solver highs() { return {"highs", Highs_version(), solve}; }

}  // namespace hios::scheduler::milp
