#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "scheduler/structures/numbers.h"

namespace hios::scheduler::milp {

/// A mixed integer linear program: minimize the sum of cost × value such that every column's value
/// and every row's sum is within its bounds. Bounds may be infinite.
struct Program {
  struct Column {
    double cost = 0;
    double lower = 0, upper = kInfinity;
    bool integer = false;
  };
  struct Term {
    std::uint32_t column = 0;
    double factor = 0;
  };
  struct Row {
    double lower = -kInfinity, upper = kInfinity;
    std::vector<Term> terms;  ///< each column at most once
  };

  std::vector<Column> columns;
  std::vector<Row> rows;
  std::size_t terms = 0;  ///< sum over all rows that were added

  std::uint32_t add(const Column& column);
  void add(Row row);
};

double cost(const Program& program, const std::vector<double>& values);

/// Returns by how much the values violate the row's bounds, 0 if they satisfy them.
double violation(const Program::Row& row, const std::vector<double>& values);

/// Returns the largest violation of any row, column bound or integer column.
double violation(const Program& program, const std::vector<double>& values);

}  // namespace hios::scheduler::milp
