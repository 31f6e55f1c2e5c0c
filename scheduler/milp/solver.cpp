#include "scheduler/milp/solver.h"

#include <algorithm>
#include <cmath>

#include "hios/base/error.h"
#include "scheduler/milp/cbc.h"
#include "scheduler/milp/highs.h"

namespace hios::scheduler::milp {

const std::vector<Solver>& solvers() {
  static const std::vector<Solver> known = [] {
    std::vector<Solver> made;
#ifdef HIOS_HIGHS
    made.push_back(highs());
#endif
#ifdef HIOS_CBC
    made.push_back(cbc());
#endif
    return made;
  }();
  return known;
}

const Solver* find_solver(std::string_view name) {
  const std::vector<Solver>& known = solvers();
  const auto found = std::find_if(known.begin(), known.end(), [&](const Solver& solver) {
    return name == "any" || solver.name == name;
  });
  return found == known.end() ? nullptr : &*found;
}

const Solver& solver_named(const std::string& name) {
  if (const Solver* found = find_solver(name)) return *found;
  if (solvers().empty()) {
    throw InputError(
        "milp needs a solver of linear programs, and this build found none: install HiGHS or Cbc, "
        "and build again");
  }
  std::string names;
  for (const Solver& solver : solvers()) names += ", " + solver.name;
  throw InputError("milp: this build has no solver " + quote(name) + "; there are: any" + names);
}

void check_answer(Answer& answer, const Program& program, const std::vector<double>& known) {
  constexpr double kAnswerTolerance = 1e-3;  // solvers work to 1e-6 or better
  const auto fail = [&](const char* message) {
    answer = {Status::kFailed, {}, kInfinity, -kInfinity, message};
  };
  if (answer.status == Status::kFailed) return;
  if (!known.empty() && answer.status == Status::kInfeasible) {
    return fail("it reports infeasibility, but a solution is known");
  }
  const bool finite = std::all_of(answer.values.begin(), answer.values.end(),
                                  [](double value) { return std::isfinite(value); });
  if (!finite || std::isnan(answer.bound))
    return fail("it returns values or a bound that are not numbers");
  if (answer.status == Status::kOptimal && answer.values.empty()) {
    return fail("it returns an optimum without values");
  }
  if (!answer.values.empty() && answer.values.size() != program.columns.size()) {
    return fail("it returns a wrong number of values");
  }
  if (!answer.values.empty() && violation(program, answer.values) > kAnswerTolerance) {
    return fail("its values violate the program's rows");
  }
  const auto above = [&](const std::vector<double>& values) {
    if (values.empty()) return false;
    const double known_cost = cost(program, values);
    return answer.bound > known_cost + kAnswerTolerance * (1 + std::abs(known_cost));
  };
  if (above(known) || above(answer.values)) fail("its bound exceeds the cost of a known solution");
}

Program relaxed(Program program) {
  for (Program::Column& column : program.columns) column.integer = false;
  return program;
}

}  // namespace hios::scheduler::milp
