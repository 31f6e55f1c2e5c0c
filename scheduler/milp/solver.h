#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/milp/program.h"

/// The interface to solvers of mixed integer linear programs. Each solver is a file of its own,
/// built if its library is found. No other code sees the library.
namespace hios::scheduler::milp {

/// Limits at which a solver ends before it has proved its answer.
struct Limits {
  std::int64_t nodes = 0;      ///< branch-and-bound nodes; 0: any number
  double relative_gap = 1e-7;  ///< (value − bound) / value at which an answer counts as proved
  /// Asked often, from whatever thread the solver asks from, until it has expired. Solvers notice
  /// it late on large programs; those that cannot ask are given its seconds.
  Deadline deadline = {};
};

enum class Status {
  kOptimal,     ///< there are values, proved optimal to the gap
  kFeasible,    ///< there are values
  kInfeasible,  ///< proved: no values satisfy the program
  kUnknown,     ///< neither found values nor proved anything
  kFailed       ///< the solver failed: `message`
};

struct Answer {
  Status status = Status::kUnknown;
  std::vector<double> values;  ///< by column; empty if there are none
  double cost = kInfinity;     ///< cost of the values
  double bound = -kInfinity;   ///< no values cost less, but for rounding
  std::string message = {};    ///< the solver's reason for a failure
};

/// A library that solves programs.
struct Solver {
  std::string name;     ///< "highs"
  std::string version;  ///< library version at run time
  /// Solves a program from `start`, values by column or empty. Pure: the same arguments give the
  /// same answer, unless the deadline ends it. One thread. Never throws because of a program: it
  /// answers kFailed.
  Answer (*solve)(const Program& program, const std::vector<double>& start, const Limits& limits);
};

/// Turns an answer that cannot be right into kFailed: values or bounds that are not numbers,
/// missing values, values that violate rows, a bound above the cost of `known`, or infeasibility
/// although `known` (values by column, or empty) is feasible.
void check_answer(Answer& answer, const Program& program, const std::vector<double>& known);

/// Returns the solvers of this build, the preferred first. May be empty.
const std::vector<Solver>& solvers();

/// Returns the solver of this name, or the first for "any"; nullptr if there is none.
const Solver* find_solver(std::string_view name);

/// Returns find_solver(name). Throws InputError with the available names if there is none.
const Solver& solver_named(const std::string& name);

/// Returns the relaxation: the program without integer columns.
Program relaxed(Program program);

}  // namespace hios::scheduler::milp
