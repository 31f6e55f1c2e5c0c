#include "scheduler/pipeline/bounds/programs/block_program.h"

#include <algorithm>

#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

double value_of(const Linear& sum, const std::vector<double>& values) {
  double value = sum.constant;
  for (const auto& [column, factor] : sum.terms) value += factor * values[column];
  return value;
}

Linear difference(const Linear& a, const Linear& b) {
  Linear made = a;
  made.add(b, -1);
  return made;
}

}  // namespace

void Linear::add(const Linear& other, double factor) {
  if (factor == 0) return;
  constant += factor * other.constant;
  std::vector<milp::Program::Term> all;
  all.reserve(terms.size() + other.terms.size());
  auto mine = terms.begin();
  for (const auto& [column, theirs] : other.terms) {  // both are sorted by column
    while (mine != terms.end() && mine->column < column) all.push_back(*mine++);
    const bool both = mine != terms.end() && mine->column == column;
    const double sum = factor * theirs + (both ? mine->factor : 0);
    if (sum != 0) all.push_back({column, sum});
    if (both) ++mine;
  }
  all.insert(all.end(), mine, terms.end());
  terms = std::move(all);
}

BlockProgram::BlockProgram(const LeastCosts& costs, const std::vector<std::vector<Side>>& sides,
                           double unit_ms)
    : costs_(costs), sides_(sides.size()), unit_ms_(unit_ms) {
  period_ = program_.add({.cost = 1});
  make_boundaries(sides);
}

void BlockProgram::make_boundaries(const std::vector<std::vector<Side>>& sides) {
  for (const std::vector<Side>& boundary : sides) {
    std::vector<Linear>& made = before_.emplace_back();
    for (const Side side : boundary) {
      if (side != Side::kOpen) {
        made.push_back({side == Side::kBefore ? 1.0 : 0.0});
        continue;
      }
      made.push_back({0, {{program_.add({0, 0, 1, true}), 1}}});
    }
  }
  const std::vector<PipelineVertex>& vertices = costs_.problem().vertices();
  for (std::size_t b = 0; b < before_.size(); ++b) {
    for (Vertex v = 0; v < vertices.size(); ++v) {
      if (b > 0) require(0, difference(before_[b][v], before_[b - 1][v]), kInfinity);
      for (const Vertex first : vertices[v].predecessors)
        require(0, difference(before_[b][first], before_[b][v]), kInfinity);
    }
  }
}

/// Returns 0 before the first boundary and 1 after the last.
Linear BlockProgram::before(std::size_t boundary, Vertex vertex) const {
  if (boundary == 0) return {0};
  if (boundary > before_.size()) return {1};
  return before_[boundary - 1][vertex];
}

std::vector<Linear> BlockProgram::members(std::size_t block) const {
  std::vector<Linear> members;
  for (Vertex v = 0; v < costs_.size(); ++v)
    members.push_back(difference(before(block + 1, v), before(block, v)));
  return members;
}

Linear BlockProgram::choice() {
  choices_.push_back(program_.add({0, 0, 1, true}));
  return {0, {{choices_.back(), 1}}};
}

Linear BlockProgram::both(const Linear& member, const Linear& choice) {
  const std::uint32_t column = program_.add({0, 0, 1, false});
  const Linear made{0, {{column, 1}}};
  require(0, difference(choice, made), kInfinity);
  products_.push_back({column, member, choice});
  return made;
}

Linear BlockProgram::at_least(std::vector<Linear> least) {
  const std::uint32_t column = program_.add(milp::Program::Column{});
  const Linear made{0, {{column, 1}}};
  for (const Linear& each : least) require(0, difference(made, each), kInfinity);
  defined_.emplace_back(column, std::move(least));
  return made;
}

void BlockProgram::require(double lower, const Linear& sum, double upper) {
  // If the constant violates the row, the program is infeasible, and the row says so.
  if (sum.terms.empty() && sum.constant >= lower && sum.constant <= upper) return;
  program_.add(milp::Program::Row{lower - sum.constant, upper - sum.constant, sum.terms});
}

void BlockProgram::bound_period(double share, const Linear& sum) {
  Linear row{0, {{period_, share}}};
  row.add(sum, -1 / unit_ms_);
  require(0, row, kInfinity);
  period_rows_.emplace_back(share, sum);
}

void BlockProgram::limit_period(double least_ms, double most_ms) {
  program_.columns[period_].lower = least_ms / unit_ms_;
  program_.columns[period_].upper = most_ms / unit_ms_;
}

/// Returns a column that is at least each of these, where it never needs to exceed `most`.
Linear BlockProgram::cut(std::vector<Linear> least, const Linear& most) {
  std::erase_if(least, [](const Linear& each) { return each.terms.empty() && each.constant <= 0; });
  if (least.empty()) return {};
  for (const Linear& each : least) {
    if (each.constant == most.constant && each.terms.size() == most.terms.size() &&
        difference(each, most).is(0)) {
      return most;
    }
  }
  return at_least(std::move(least));
}

Linear BlockProgram::sent(const std::vector<Linear>& members) {
  Linear ms;
  for (const PipelineTensor& tensor : costs_.problem().tensors()) {
    const Linear& made = members[tensor.producer];
    if (tensor.ms == 0 || made.is(0)) continue;
    std::vector<Linear> least;
    for (const Vertex consumer : tensor.consumers)
      least.push_back(difference(made, members[consumer]));
    ms.add(cut(std::move(least), made), tensor.ms);
  }
  return ms;
}

Linear BlockProgram::received(const std::vector<Linear>& members) {
  Linear ms;
  for (const PipelineTensor& tensor : costs_.problem().tensors()) {
    const Linear& made = members[tensor.producer];
    if (tensor.ms == 0 || made.is(1)) continue;
    std::vector<Linear> least;
    const Linear* only = nullptr;  // the only possible consumer, if it is one
    std::size_t consumers = 0;
    for (const Vertex consumer : tensor.consumers) {
      if (members[consumer].is(0)) continue;
      ++consumers;
      only = &members[consumer];
      least.push_back(difference(members[consumer], made));
    }
    ms.add(cut(std::move(least), consumers == 1 ? *only : Linear{1}), tensor.ms);
  }
  return ms;
}

Linear BlockProgram::overflow(const LeastCosts::Overflow& line, const std::vector<Linear>& members,
                              const Linear& used) {
  if (line.ms_per_byte == 0) return {};
  Linear beyond;  // in units of time
  const double factor = line.ms_per_byte / unit_ms_;
  for (Vertex v = 0; v < costs_.size(); ++v)
    beyond.add(members[v], factor * static_cast<double>(costs_.problem().vertices()[v].parameters));
  beyond.add(used, -factor * line.bytes);
  Linear ms;
  ms.add(at_least({beyond}), unit_ms_);
  return ms;
}

Linear BlockProgram::block_cost(const PipelineClass& device, const std::vector<Linear>& members,
                                const Linear& used) {
  Linear ms;
  for (Vertex v = 0; v < costs_.size(); ++v) {
    if (device.work_ms[v] < kInfinity) {
      ms.add(members[v], device.work_ms[v]);
    } else {
      require(0, members[v], 0);
    }
  }
  if (device.memory_bytes > 0) {
    Linear held;
    for (Vertex v = 0; v < costs_.size(); ++v) {
      held.add(members[v], static_cast<double>(costs_.problem().vertices()[v].held) /
                               static_cast<double>(device.memory_bytes));
    }
    held.add(used, -1);
    require(-kInfinity, held, 0);
  }
  if (device.charge.send > 0) ms.add(sent(members), device.charge.send);
  if (device.charge.receive > 0) ms.add(received(members), device.charge.receive);
  ms.add(overflow(overflow_line(device.fast_memory), members, used), 1);
  return ms;
}

std::vector<double> BlockProgram::values(const std::vector<std::size_t>& block_of,
                                         const std::vector<double>& choices) const {
  std::vector<double> values(program_.columns.size(), 0);
  for (std::size_t b = 0; b < before_.size(); ++b) {
    for (Vertex v = 0; v < costs_.size(); ++v) {
      for (const auto& term : before_[b][v].terms) values[term.column] = block_of[v] <= b ? 1 : 0;
    }
  }
  for (std::size_t i = 0; i < choices_.size(); ++i) values[choices_[i]] = choices[i];
  for (const Product& each : products_)
    values[each.column] = value_of(each.a, values) * value_of(each.b, values);
  for (const auto& [column, least] : defined_) {
    for (const Linear& each : least)
      values[column] = std::max(values[column], value_of(each, values));
  }
  for (const auto& [share, sum] : period_rows_) {
    if (share > 0)
      values[period_] = std::max(values[period_], value_of(sum, values) / unit_ms_ / share);
  }
  return values;
}

}  // namespace hios::scheduler::pipeline
