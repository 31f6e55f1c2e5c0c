#include "scheduler/batches/batched_program.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "scheduler/batches/each_operator.h"
#include "scheduler/batches/sized_times.h"
#include "scheduler/milp/program.h"
#include "scheduler/structures/numbers.h"

// The paper's variables, for operators i and j, devices u and v, inputs l: x(i, u, l) for "input l
// of i runs on u", b(i, u, k) for "u runs a batch of k of i", s(i, u) for its start, C for the
// latency; d(i, j, u) for "i before j on u". Inputs are counted in parts. Rows as numbered there:
//  (1) Σ_u x(i, u, l) = 1
//  (2) s(i, u) + Σ_k b·t <= C
//  (3) s(i, u) + Σ_k b·t + transfer·(x(j, v, l) + x(i, u, l) − 1) <= s(j, v)
//  (4), (5) Σ_l x(i, u, l) = Σ_k k·b(i, u, k), Σ_k b <= 1
//  (6) the bytes of all batches are within the device's memory
//  (7) two batches on one device do not overlap: only for pairs without a path, as the paper says.
//      Those on a path are in order by (3).
// In (3) a batch waits for every batch of its predecessors. We make that a row of its own, which
// the printed one implies for every batch that there is. The paper's transfer takes equally long
// for any number of inputs. Ours takes α + β·m for the m inputs that two batches have in common,
// the least line above its costs; y(l) >= x(j, v, l) + x(i, u, l) − 1 counts them. Batches of this
// library hold neighbouring inputs, so x(i, u, ·) begins at most once.
//
// Test: tests/scheduler/batches/batched_program_test.cpp compares it with all shares of all inputs.

namespace hios::scheduler {
namespace {

using milp::Program;

constexpr double kBatchedScale = 100;         // the latency to be beaten, in the program's unit
constexpr double kUsed = 0.5;                 // binary values above are 1
constexpr std::int64_t kBatchedNodes = 2000;  // of branch and bound without another limit

class BatchedProgram {
 public:
  BatchedProgram(const DivisibleProblem& problem, double below_ms)
      : problem_(problem),
        graph_(*problem.graphs->whole()),
        times_(problem),
        devices_(problem.platform->size()),
        parts_(times_.parts()),
        ms_per_unit_(below_ms / kBatchedScale) {
    latency_ = program_.add(Program::Column{1, 0, kBatchedScale, false});
    for (std::size_t i = 0; i < graph_.size() && !too_large(); ++i) {
      for (std::size_t u = 0; u < devices_; ++u) add_batch(OpId(i), u);
      add_inputs(OpId(i));
    }
    for (std::size_t e = 0; e < graph_.edge_count() && !too_large(); ++e) add_edge(EdgeId(e));
    for (std::size_t u = 0; u < devices_ && !too_large(); ++u) add_memory(u);
    add_labels();
    add_orders();
  }

  bool too_large() const { return program_.terms > kMostBatchedTerms; }
  const Program& program() const { return program_; }
  double ms(double units) const { return units * ms_per_unit_; }

  /// Returns the batches in the order in which devices start them.
  BatchStages stages(const std::vector<double>& values) const {
    const std::int64_t part = problem_.graphs->sizes().front();
    BatchStages stages(devices_);
    for (std::size_t u = 0; u < devices_; ++u) {
      std::vector<std::tuple<double, std::size_t, Batch>> started;
      for (std::size_t rank = 0; rank < graph_.size(); ++rank) {
        const OpId op = graph_.topological()[rank];
        const PlannedBatch& batch = at(op, u);
        InputRange inputs{static_cast<std::int64_t>(parts_) * part, 0};
        for (std::size_t l = 0; l < parts_; ++l) {
          if (batch.input.empty() || values[batch.input[l]] < kUsed) continue;
          const std::int64_t begin = static_cast<std::int64_t>(l) * part;
          inputs = {std::min(inputs.begin, begin), begin + part};
        }
        if (inputs.size() > 0) started.emplace_back(values[batch.start], rank, Batch{op, inputs});
      }
      std::sort(started.begin(), started.end());
      for (const auto& [start, rank, batch] : started) stages[u].push_back({{batch}});
    }
    return stages;
  }

 private:
  /// The columns of an operator on a device; all empty but for `start` where it cannot run there.
  struct PlannedBatch {
    std::uint32_t start = 0;                            // s
    std::vector<std::uint32_t> input;                   // x, by part
    std::vector<std::pair<std::size_t, std::uint32_t>>  // b: parts, column
        sizes;
  };

  const PlannedBatch& at(OpId op, std::size_t u) const {
    return batches_[op.index() * devices_ + u];
  }
  double units(double ms) const { return ms / ms_per_unit_; }

  void add_batch(OpId op, std::size_t u) {
    PlannedBatch& batch = batches_.emplace_back();
    batch.start = program_.add(Program::Column{0, 0, kBatchedScale, false});
    const bool together = !graph_.op(op).colocate.empty();
    for (std::size_t k = together ? parts_ : 1; k <= parts_; ++k) {
      const double ms = times_.operator_ms(op, k, DeviceId(u));
      if (units(ms) > kBatchedScale) continue;
      batch.sizes.emplace_back(k, program_.add(Program::Column{0, 0, 1, true}));
    }
    if (batch.sizes.empty()) return;
    Program::Row one{-kInfinity, 1, {}}, count{0, 0, {}}, over{-kInfinity, 0, {}};
    for (const auto& [k, column] : batch.sizes) {
      one.terms.push_back({column, 1});
      count.terms.push_back({column, -static_cast<double>(k)});
    }
    for (std::size_t l = 0; l < parts_; ++l) {
      batch.input.push_back(program_.add(Program::Column{0, 0, 1, true}));
      count.terms.push_back({batch.input.back(), 1});
    }
    over.terms = {{batch.start, 1}, {latency_, -1}};
    add_duration(op, u, over);
    program_.add(std::move(one));
    program_.add(std::move(count));
    program_.add(std::move(over));
    add_one_begin(batch);
  }

  /// Adds Σ_k b·t of the operator on the device.
  void add_duration(OpId op, std::size_t u, Program::Row& row) const {
    for (const auto& [k, column] : at(op, u).sizes) {
      row.terms.push_back({column, units(times_.operator_ms(op, k, DeviceId(u)))});
    }
  }

  /// Lets the batch's inputs be neighbours.
  void add_one_begin(const PlannedBatch& batch) {
    Program::Row one{-kInfinity, 1, {}};
    for (std::size_t l = 0; l < parts_; ++l) {
      const std::uint32_t begins = program_.add(Program::Column{0, 0, 1, false});
      Program::Row row{0, kInfinity, {{begins, 1}, {batch.input[l], -1}}};
      if (l > 0) row.terms.push_back({batch.input[l - 1], 1});
      program_.add(std::move(row));
      one.terms.push_back({begins, 1});
    }
    program_.add(std::move(one));
  }

  void add_inputs(OpId op) {
    for (std::size_t l = 0; l < parts_; ++l) {
      Program::Row row{1, 1, {}};
      for (std::size_t u = 0; u < devices_; ++u) {
        if (!at(op, u).input.empty()) row.terms.push_back({at(op, u).input[l], 1});
      }
      program_.add(std::move(row));
    }
  }

  void add_edge(EdgeId e) {
    const OpId from = graph_.edge(e).from, to = graph_.edge(e).to;
    for (std::size_t u = 0; u < devices_; ++u) {
      for (std::size_t v = 0; v < devices_; ++v) {
        Program::Row row{-kInfinity, 0, {{at(from, u).start, 1}, {at(to, v).start, -1}}};
        add_duration(from, u, row);
        program_.add(row);
        if (u != v && !at(from, u).input.empty() && !at(to, v).input.empty()) {
          add_transfer(e, u, v, row);
        }
      }
    }
  }

  /// Adds (3) for each input. `row` has all but the transfer.
  void add_transfer(EdgeId e, std::size_t u, std::size_t v, const Program::Row& row) {
    const auto sent_ms = [&](std::size_t m) {
      return times_.transfer_ms(e, m, DeviceId(u), DeviceId(v));
    };
    double each_ms = 0, fixed_ms = 0;
    for (std::size_t m = 2; m <= parts_; ++m) {
      each_ms = std::max(each_ms, (sent_ms(m) - sent_ms(1)) / static_cast<double>(m - 1));
    }
    for (std::size_t m = 1; m <= parts_; ++m) {
      fixed_ms = std::max(fixed_ms, sent_ms(m) - each_ms * static_cast<double>(m));
    }
    const auto& sent = at(graph_.edge(e).from, u).input;
    const auto& received = at(graph_.edge(e).to, v).input;
    if (!std::isfinite(each_ms) || !std::isfinite(fixed_ms)) {  // nothing may be sent
      for (std::size_t l = 0; l < parts_; ++l) {
        program_.add(Program::Row{-kInfinity, 1, {{sent[l], 1}, {received[l], 1}}});
      }
      return;
    }
    std::vector<std::uint32_t> common;
    for (std::size_t l = 0; l < parts_ && each_ms > 0; ++l) {
      common.push_back(program_.add(Program::Column{0, 0, 1, false}));
      program_.add(Program::Row{-1, kInfinity, {{common[l], 1}, {sent[l], -1}, {received[l], -1}}});
    }
    for (std::size_t l = 0; l < parts_; ++l) {
      Program::Row whole = row;
      const double fixed = units(fixed_ms);
      whole.upper = fixed;
      whole.terms.push_back({sent[l], fixed});
      whole.terms.push_back({received[l], fixed});
      for (const std::uint32_t y : common) whole.terms.push_back({y, units(each_ms)});
      program_.add(std::move(whole));
    }
  }

  void add_memory(std::size_t u) {
    const Bytes limit = problem_.platform->device(DeviceId(u)).memory_bytes;
    if (limit == 0) return;
    Program::Row row{-kInfinity, 1, {}};
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      for (const auto& [k, column] : at(OpId(i), u).sizes) {
        const std::int64_t inputs = static_cast<std::int64_t>(k) * problem_.graphs->sizes().front();
        const Operator& op = problem_.graphs->of(inputs).op(OpId(i));
        const double bytes =
            static_cast<double>(op.memory_bytes) + static_cast<double>(op.parameter_bytes);
        row.terms.push_back({column, bytes / static_cast<double>(limit)});
      }
    }
    program_.add(std::move(row));
  }

  /// Lets operators of one label have their whole batches on one device.
  void add_labels() {
    for (std::size_t j = 1; j < graph_.size(); ++j) {
      const std::string& label = graph_.op(OpId(j)).colocate;
      for (std::size_t i = 0; i < j && !label.empty(); ++i) {
        if (graph_.op(OpId(i)).colocate != label) continue;
        for (std::size_t u = 0; u < devices_; ++u) add_together(at(OpId(i), u), at(OpId(j), u));
        break;
      }
    }
  }

  void add_together(const PlannedBatch& a, const PlannedBatch& b) {
    Program::Row row{0, 0, {}};
    if (!a.sizes.empty()) row.terms.push_back({a.sizes.front().second, 1});
    if (!b.sizes.empty()) row.terms.push_back({b.sizes.front().second, -1});
    program_.add(std::move(row));
  }

  void add_orders() {
    const auto order = graph_.topological();
    std::vector<std::vector<bool>> follows(graph_.size(), std::vector<bool>(graph_.size()));
    for (std::size_t j = 0; j < order.size(); ++j) {
      auto& before = follows[order[j].index()];
      for (const EdgeId e : graph_.in_edges(order[j])) {
        const std::size_t from = graph_.edge(e).from.index();
        before[from] = true;
        for (std::size_t i = 0; i < before.size(); ++i) before[i] = before[i] || follows[from][i];
      }
      for (std::size_t i = 0; i < j; ++i) {
        if (before[order[i].index()]) continue;
        for (std::size_t u = 0; u < devices_ && !too_large(); ++u) add_order(order[i], order[j], u);
      }
    }
  }

  /// Adds (7) for two operators without a path.
  void add_order(OpId i, OpId j, std::size_t u) {
    if (at(i, u).sizes.empty() || at(j, u).sizes.empty()) return;
    const std::uint32_t d = program_.add(Program::Column{0, 0, 1, true});
    const auto add = [&](OpId first, OpId second, double sign, double upper) {
      Program::Row row{-kInfinity, upper + 2 * kBatchedScale, {}};
      row.terms = {{at(first, u).start, 1}, {at(second, u).start, -1}, {d, sign * kBatchedScale}};
      for (const auto& [k, column] : at(first, u).sizes) {
        const double time = units(times_.operator_ms(first, k, DeviceId(u)));
        row.terms.push_back({column, time + kBatchedScale});
      }
      for (const auto& [k, column] : at(second, u).sizes) {
        row.terms.push_back({column, kBatchedScale});
      }
      program_.add(std::move(row));
    };
    add(i, j, 1, kBatchedScale);
    add(j, i, -1, 0);
  }

  const DivisibleProblem& problem_;
  const Graph& graph_;
  SizedTimes times_;
  std::size_t devices_, parts_;
  double ms_per_unit_;
  Program program_;
  std::uint32_t latency_ = 0;          // C
  std::vector<PlannedBatch> batches_;  // operator × device
};

}  // namespace

std::optional<BatchedResult> solve_batched(const DivisibleProblem& problem,
                                           const milp::Solver& solver, double below_ms,
                                           milp::Limits limits) {
  if (!(below_ms > 0) || problem.graphs->whole()->size() == 0) return std::nullopt;
  const BatchedProgram program(problem, below_ms);
  if (program.too_large()) return std::nullopt;
  if (limits.nodes == 0 && !limits.deadline.has_time_limit()) limits.nodes = kBatchedNodes;
  milp::Answer answer = solver.solve(program.program(), {}, limits);
  milp::check_answer(answer, program.program(), {});
  BatchedResult result;
  result.proved =
      answer.status == milp::Status::kOptimal || answer.status == milp::Status::kInfeasible;
  if (answer.values.empty()) return result;
  result.program_ms = program.ms(answer.cost);
  result.made = timed(problem, program.stages(answer.values));
  return result;
}

std::optional<TimedDivision> divide_by_program(const DivisibleProblem& problem,
                                               const Deadline& deadline) {
  std::optional<TimedDivision> known = divide_by_any(problem, deadline);
  const milp::Solver* solver = milp::find_solver("any");
  if (!known || !solver || deadline.expired()) return known;
  milp::Limits limits;
  limits.deadline = deadline;
  auto found = solve_batched(problem, *solver, known->latency_ms, limits);
  if (found && found->made && found->made->latency_ms < known->latency_ms) {
    return std::move(found->made);
  }
  return known;
}

}  // namespace hios::scheduler
