#include "scheduler/milp/program.h"

#include <algorithm>
#include <cmath>

namespace hios::scheduler::milp {
namespace {

double outside(double value, double lower, double upper) {
  return std::max({0.0, lower - value, value - upper});
}

}  // namespace

std::uint32_t Program::add(const Column& column) {
  columns.push_back(column);
  return static_cast<std::uint32_t>(columns.size() - 1);
}

void Program::add(Row row) {
  terms += row.terms.size();
  rows.push_back(std::move(row));
}

double cost(const Program& program, const std::vector<double>& values) {
  double sum = 0;
  for (std::size_t c = 0; c < program.columns.size(); ++c) {
    sum += program.columns[c].cost * values[c];
  }
  return sum;
}

double violation(const Program::Row& row, const std::vector<double>& values) {
  double sum = 0;
  for (const Program::Term& term : row.terms) sum += term.factor * values[term.column];
  return outside(sum, row.lower, row.upper);
}

double violation(const Program& program, const std::vector<double>& values) {
  double most = 0;
  for (const Program::Row& row : program.rows) most = std::max(most, violation(row, values));
  for (std::size_t c = 0; c < program.columns.size(); ++c) {
    const Program::Column& column = program.columns[c];
    most = std::max(most, outside(values[c], column.lower, column.upper));
    if (column.integer) most = std::max(most, std::abs(values[c] - std::round(values[c])));
  }
  return most;
}

}  // namespace hios::scheduler::milp
