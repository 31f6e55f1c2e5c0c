#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/deadline.h"
#include "scheduler/milp/program.h"

/// The one door to solvers of mixed integer linear programs. A solver is a file of its own, built
/// where its library is found; what stands behind it is never seen by others.
namespace hios::scheduler::milp {

/// When a solver ends before it has proved its answer.
struct Limits {
  std::int64_t nodes = 0;      ///< of branch and bound; 0: any number
  double relative_gap = 1e-7;  ///< (value − bound) / value from which on it counts as proved
  /// Asked often, from whatever thread the solver asks from, until it has expired. Solvers hear it
  /// late where a program is large; those that cannot ask are given its seconds.
  Deadline deadline = {};
};

enum class Status {
  kOptimal,     ///< values are there, and proved to the gap
  kFeasible,    ///< values are there
  kInfeasible,  ///< proved: there are none
  kUnknown,     ///< no values were found, and none were excluded
  kFailed       ///< the solver gave up: `message`
};

struct Answer {
  Status status = Status::kUnknown;
  std::vector<double> values;  ///< by column; empty where there are none
  double cost = kInfinity;     ///< of the values
  double bound = -kInfinity;   ///< no values cost less, but for rounding
  std::string message = {};    ///< what the solver says of a failure
};

/// A library that solves programs.
struct Solver {
  std::string name;     ///< "highs"
  std::string version;  ///< of the library at run time
  /// `start`: values by column to begin with, or empty. Pure: the same arguments give the same
  /// answer, unless the deadline ends it. One thread. Never throws for what a program says: an
  /// answer of kFailed.
  Answer (*solve)(const Program& program, const std::vector<double>& start, const Limits& limits);
};

/// Makes a failure of an answer that cannot be right: numbers that are none, values that are not
/// there or far from what the rows ask, a bound above `known`, or none of it possible although
/// `known`, values by column (or empty), is.
void distrust(Answer& answer, const Program& program, const std::vector<double>& known);

/// Those that this build has, the preferred first. May be empty.
const std::vector<Solver>& solvers();

/// The one of that name, "any": the first; nullptr where there is none.
const Solver* find_solver(std::string_view name);

/// As find_solver(). Throws InputError that names those that there are where it is not there.
const Solver& solver_named(const std::string& name);

/// The same without integer columns.
Program relaxed(Program program);

}  // namespace hios::scheduler::milp
