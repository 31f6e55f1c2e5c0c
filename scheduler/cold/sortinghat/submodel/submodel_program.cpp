#include "scheduler/cold/sortinghat/submodel/submodel_program.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "scheduler/cold/sortinghat/submodel/submodel_bounds.h"
#include "scheduler/structures/numbers.h"

// The MILP of Namkoong et al., "SortingHat", section 3.3, equation by equation, with these mends:
//  (3)  counts placeholders, and parameters that an earlier submodel has loaded, a second time, and
//       puts them into the first subgraph of their device, which their readers then wait for. Here
//       they are constants: a device and a time, without a cost.
//  (5)  forces all readers of shared parameters to read in place if one does. Here each chooses:
//       one that does not read in place needs them on a device.
//  (6)  to (8) are of operators. Parameters are loaded in an order of their own (Fig. 7(d)), and
//       cannot interrupt a subgraph.
//  (13), (14): see submodel_problem.cpp.
//  (15), (19) exclude cycles of subgraphs only where operators take time. Where some may take none,
//       ranks exclude them: an edge leads to a subgraph of a higher rank.
//  Ties go to lanes that end earlier, which leaves later submodels more.
// x are integers; z, EdgeIn and CopyIn are 0 or 1 by themselves, since only their least values
// matter. H is the latency of the known solution: none that is longer is wanted.
//
// Test: tests/scheduler/cold/sortinghat/submodel_test.cpp, by brute force over all assignments.

namespace hios::scheduler::sortinghat {
namespace {

using milp::Program;

constexpr double kWeightOfTies = 1e-4;  ///< of the mean end of lanes, against the latency
constexpr double kNoTime = 1e-6;        ///< of the horizon: a solver may take less for none

}  // namespace

SubmodelProgram::SubmodelProgram(const SubmodelProblem& problem, const SubmodelTimes& known)
    : problem_(problem) {
  start_ms_ = *std::ranges::min_element(problem.device_free_ms);
  horizon_ms_ = std::max(0.0, after_start(known.latency_ms)) * (1 + 1e-9) + 1e-9;
  add_columns();
  add_assignment();
  add_contiguity();
  add_data_movement();
  add_memory();
  add_loads();
  add_inference();
  add_durations();
  if (may_take_no_time()) add_ranks();
  add_bounds();
}

/// Counts what grows fastest: z in (6) to (8), and copies in (10).
std::size_t SubmodelProgram::least_terms(const SubmodelProblem& problem) {
  const std::size_t subgraphs = problem.subgraphs(), others = problem.devices - 1;
  std::vector<bool> used(problem.nodes(), false);
  std::size_t tensors = 0;  // edges between operators
  for (const auto& [from, to] : problem.edges) {
    used[from] = true;
    tensors += problem.is_operator(from);
  }
  std::size_t copies = 0;
  for (std::size_t n = 0; n < problem.fixed_node(0); ++n) {
    if (!used[n]) continue;
    copies += others * (problem.is_operator(n) ? subgraphs : subgraphs / 2);
  }
  return subgraphs * (problem.operators.size() + 3 * tensors) + 3 * copies;
}

void SubmodelProgram::row(double lower, Terms terms, double upper) {
  std::map<Column, double> sums;  // a column may stand on both sides of an equation
  for (const auto& term : terms) {
    if (term.column != kNoColumn) sums[term.column] += term.factor;
  }
  Program::Row added{lower, upper, {}};
  for (const auto& [column, factor] : sums) {
    if (factor != 0) added.terms.push_back({column, factor});
  }
  program_.add(std::move(added));
}

SubmodelProgram::Column SubmodelProgram::add_time(double lower_ms) {
  return program_.add(Program::Column{.cost = 0, .lower = lower_ms, .upper = horizon_ms_});
}

bool SubmodelProgram::may_take_no_time() const {
  return std::ranges::any_of(problem_.operators, [&](const SubmodelProblem::Operator& op) {
    const auto none = [&](double ms) { return ms < kNoTime * horizon_ms_; };
    return std::ranges::any_of(op.loaded_ms, none) || std::ranges::any_of(op.in_place_ms, none);
  });
}

void SubmodelProgram::add_columns() {
  const std::size_t count = problem_.subgraphs() + 1;
  std::vector<bool> used(problem_.nodes(), false);
  for (const auto& [from, to] : problem_.edges) used[from] = true;
  for (std::size_t n = 0; n < problem_.nodes(); ++n) {
    x_.emplace_back(count, kNoColumn);
    z_.emplace_back(count, kNoColumn);
    edge_in_.emplace_back(count, kNoColumn);
    copy_in_.emplace_back(count * problem_.devices, kNoColumn);
    on_.emplace_back(problem_.devices, kNoColumn);
    for (SubgraphId j = 0; j < count; ++j) {
      // (4): operators never are in subgraph 0.
      const bool may =
          problem_.is_operator(n)
              ? j > 0 && std::isfinite(problem_.operator_ms(n, j))
              : problem_.is_parameters(n) &&
                    (j == 0 || std::isfinite(problem_.parameters[n - problem_.operators.size()]
                                                 .load_ms[problem_.device_of(j)]));
      if (may) x_[n][j] = program_.add(Program::Column{.upper = 1, .integer = true});
      if (j > 0 && problem_.is_operator(n)) z_[n][j] = program_.add(Program::Column{.upper = 1});
      if (j > 0 && used[n] && problem_.counts(n, j)) {
        edge_in_[n][j] = program_.add(Program::Column{.upper = 1});
      }
    }
    node_end_.push_back(problem_.is_fixed(n) ? kNoColumn : add_time(0));
  }
  for (SubgraphId j = 0; j < count; ++j) {
    loads_end_.push_back(j == 0 ? kNoColumn : add_time(-kInfinity));
    start_.push_back(j == 0 ? kNoColumn : add_time(0));
    end_.push_back(j == 0 ? kNoColumn : add_time(0));
  }
  latency_ = add_time(0);
  program_.columns[latency_].cost = 1;
}

void SubmodelProgram::add_assignment() {
  std::map<std::string, std::size_t> first_of_label;
  for (std::size_t n = 0; n < problem_.fixed_node(0); ++n) {
    Terms all;
    for (SubgraphId j = 0; j <= problem_.subgraphs(); ++j) all.push_back({x(n, j), 1});
    row(1, std::move(all), 1);  // (2)
    for (std::size_t d = 0; d < problem_.devices; ++d) {
      on_[n][d] = program_.add(Program::Column{.upper = 1});
      Terms sum{{on_[n][d], -1}};
      for (std::size_t t = 0; t < problem_.subgraphs_per_device; ++t) {
        sum.push_back({x(n, problem_.first_of(d) + t), 1});
      }
      row(0, std::move(sum), 0);
    }
    if (!problem_.is_operator(n)) continue;
    const SubmodelProblem::Operator& op = problem_.operators[n];
    if (op.reads && problem_.is_parameters(*op.reads)) {  // (5)
      Terms loaded{{x(*op.reads, 0), 1}};
      for (SubgraphId j = 2; j <= problem_.subgraphs(); j += 2) loaded.push_back({x(n, j), 1});
      row(-kInfinity, std::move(loaded), 1);
    }
    if (op.colocate.empty()) continue;
    const auto [first, added] = first_of_label.emplace(op.colocate, n);
    for (std::size_t d = 0; d < problem_.devices && !added; ++d) {
      row(0, {{on_[n][d], 1}, {on_[first->second][d], -1}}, 0);
    }
    for (const auto& [label, device] : problem_.label_on) {
      if (label == op.colocate) row(1, {{on_[n][device], 1}}, 1);
    }
  }
}

void SubmodelProgram::add_contiguity() {
  for (SubgraphId j = 1; j <= problem_.subgraphs(); ++j) {
    for (std::size_t v = 0; v < problem_.operators.size(); ++v) {
      row(0, {{z_[v][j], 1}, {x(v, j), -1}}, kInfinity);  // (6)
    }
    for (const auto& [u, v] : problem_.edges) {
      if (!problem_.is_operator(u)) continue;
      row(0, {{z_[u][j], 1}, {z_[v][j], -1}}, kInfinity);                // (7)
      row(-kInfinity, {{z_[v][j], 1}, {x(v, j), -1}, {x(u, j), 1}}, 1);  // (8)
    }
  }
}

void SubmodelProgram::add_data_movement() {
  for (const auto& [u, v] : problem_.edges) {
    for (SubgraphId j = 1; j <= problem_.subgraphs(); ++j) {
      if (edge_in(u, j) == kNoColumn) continue;
      const Column own = problem_.is_fixed(u) ? kNoColumn : x(u, j);
      row(0, {{edge_in(u, j), 1}, {x(v, j), -1}, {own, 1}}, kInfinity);  // (9)
    }
  }
  for (std::size_t n = 0; n < problem_.nodes(); ++n) {
    for (std::size_t d = 0; d < problem_.devices; ++d) {
      for (SubgraphId j = 1; j <= problem_.subgraphs(); ++j) {
        if (edge_in(n, j) == kNoColumn || problem_.device_of(j) == d) continue;
        const bool routed = std::isfinite(problem_.copy(n, d, problem_.device_of(j)));
        if (problem_.is_fixed(n)) {
          if (problem_.fixed[n - problem_.fixed_node(0)].device != d) continue;
          copy_in(n, d, j) = edge_in(n, j);
          if (!routed) program_.columns[edge_in(n, j)].upper = 0;
          continue;
        }
        copy_in(n, d, j) = program_.add(Program::Column{.upper = routed ? 1.0 : 0.0});
        row(-1, {{copy_in(n, d, j), 1}, {on_[n][d], -1}, {edge_in(n, j), -1}}, kInfinity);  // (10)
      }
    }
  }
}

/// Adds (11), in shares of the room. It counts copies for ever, and so does this scheduler.
void SubmodelProgram::add_memory() {
  for (std::size_t d = 0; d < problem_.devices; ++d) {
    if (!problem_.room_bytes[d]) continue;
    const double room = std::max(1.0, static_cast<double>(*problem_.room_bytes[d]));
    Terms sum;
    for (std::size_t n = 0; n < problem_.nodes(); ++n) {
      const double share = static_cast<double>(problem_.bytes[n]) / room;
      if (share == 0) continue;
      if (!problem_.is_fixed(n)) sum.push_back({on_[n][d], share});
      for (std::size_t from = 0; from < problem_.devices; ++from) {
        for (std::size_t t = 0; t < problem_.subgraphs_per_device; ++t) {
          sum.push_back({copy_in(n, from, problem_.first_of(d) + t), share});
        }
      }
    }
    row(-kInfinity, std::move(sum), static_cast<double>(*problem_.room_bytes[d]) / room);
  }
}

void SubmodelProgram::add_loads() {
  const auto buses = static_cast<double>(problem_.bus_free_ms.size());
  for (std::size_t bus = 0; bus < problem_.bus_free_ms.size(); ++bus) {
    Column before = kNoColumn;
    for (const SubgraphId j : problem_.transfer_order(bus)) {
      Terms sum{{loads_end_[j], 1}, {before, -1}};  // (13), (14)
      for (std::size_t p = 0; p < problem_.parameters.size(); ++p) {
        const std::size_t node = problem_.parameter_node(p);
        if (x(node, j) == kNoColumn) continue;
        sum.push_back({x(node, j), -problem_.parameters[p].load_ms[problem_.device_of(j)]});
      }
      const double ms = before == kNoColumn ? after_start(problem_.bus_free_ms[bus]) : 0;  // (12)
      row(ms, std::move(sum), ms);
      before = loads_end_[j];
    }
    if (before != kNoColumn) program_.columns[before].cost = kWeightOfTies / buses;
  }
}

void SubmodelProgram::add_inference() {
  const double h = horizon_ms_;
  for (SubgraphId j = 1; j <= problem_.subgraphs(); ++j) {
    const bool first = (j - 1) % problem_.subgraphs_per_device == 0;
    const double free_ms = after_start(problem_.device_free_ms[problem_.device_of(j)]);
    row(first ? free_ms : 0, {{start_[j], 1}, {first ? kNoColumn : end_[j - 1], -1}},
        kInfinity);                                     // (17), (18)
    row(0, {{latency_, 1}, {end_[j], -1}}, kInfinity);  // (23)
    for (std::size_t n = 0; n < problem_.nodes(); ++n) {
      if (problem_.is_fixed(n)) {
        if (edge_in(n, j) == kNoColumn) continue;
        const double ms = after_start(problem_.fixed[n - problem_.fixed_node(0)].finish_ms);
        if (ms > 0) row(0, {{start_[j], 1}, {edge_in(n, j), -ms}}, kInfinity);  // (19)
        continue;
      }
      const Column end = problem_.is_operator(n) ? end_[j] : loads_end_[j];
      if (x(n, j) != kNoColumn) {
        row(-h, {{node_end_[n], 1}, {end, -1}, {x(n, j), -h}}, kInfinity);  // (15), (16)
      }
      if (edge_in(n, j) != kNoColumn) {
        row(-h, {{start_[j], 1}, {node_end_[n], -1}, {edge_in(n, j), -h}}, kInfinity);  // (19)
      }
    }
    for (const auto& [w, v] : problem_.edges) {
      if (!problem_.is_parameters(w) || !problem_.counts(w, j)) continue;
      if (x(w, j) == kNoColumn || x(v, j) == kNoColumn) continue;
      row(-2 * h, {{start_[j], 1}, {node_end_[w], -1}, {x(w, j), -h}, {x(v, j), -h}},
          kInfinity);  // (20)
    }
  }
}

/// Adds (21) and (22): copies into a subgraph, those of parameters too, are part of it.
void SubmodelProgram::add_durations() {
  for (SubgraphId j = 1; j <= problem_.subgraphs(); ++j) {
    Terms sum{{end_[j], 1}, {start_[j], -1}};
    for (std::size_t n = 0; n < problem_.nodes(); ++n) {
      if (problem_.is_operator(n) && x(n, j) != kNoColumn) {
        sum.push_back({x(n, j), -problem_.operator_ms(n, j)});
      }
      for (std::size_t d = 0; d < problem_.devices; ++d) {
        const Column copied = copy_in(n, d, j);
        if (copied == kNoColumn || program_.columns[copied].upper == 0) continue;
        sum.push_back({copied, -problem_.copy(n, d, problem_.device_of(j))});
      }
    }
    row(0, std::move(sum), 0);
  }
}

/// Adds ranks, where (15) and (19) admit cycles.
void SubmodelProgram::add_ranks() {
  const auto most = static_cast<double>(problem_.subgraphs());
  const auto add_rank = [&] { return program_.add(Program::Column{.upper = most}); };
  for (SubgraphId j = 0; j <= problem_.subgraphs(); ++j) rank_.push_back(add_rank());
  for (std::size_t v = 0; v < problem_.operators.size(); ++v) node_rank_.push_back(add_rank());
  for (SubgraphId j = 1; j <= problem_.subgraphs(); ++j) {
    const bool first = (j - 1) % problem_.subgraphs_per_device == 0;
    if (!first) row(0, {{rank_[j], 1}, {rank_[j - 1], -1}}, kInfinity);
    for (std::size_t v = 0; v < problem_.operators.size(); ++v) {
      if (x(v, j) != kNoColumn) {
        row(-most, {{node_rank_[v], 1}, {rank_[j], -1}, {x(v, j), -most}}, kInfinity);
      }
      if (edge_in(v, j) == kNoColumn) continue;
      row(-most, {{rank_[j], 1}, {node_rank_[v], -1}, {edge_in(v, j), -most - 1}}, kInfinity);
    }
  }
}

/// Adds lower bounds by longest paths, which end a solve where its start is on one.
void SubmodelProgram::add_bounds() {
  const LongestPaths paths = longest_paths(problem_, start_ms_);
  for (std::size_t v = 0; v < problem_.operators.size(); ++v) {
    program_.columns[node_end_[v]].lower = std::min(paths.end_ms[v], horizon_ms_);
  }
  program_.columns[latency_].lower = std::min(paths.latency_ms, horizon_ms_);
}

std::vector<double> SubmodelProgram::values(const SubmodelAssignment& assignment,
                                            const SubmodelTimes& times) const {
  std::vector<double> values(program_.columns.size(), 0);
  const auto set = [&](Column column, double value) {
    if (column != kNoColumn) values[column] = value;
  };
  for (std::size_t n = 0; n < problem_.fixed_node(0); ++n) {
    const SubgraphId j = assignment.subgraph[n];
    set(x(n, j), 1);
    if (j > 0) set(on_[n][problem_.device_of(j)], 1);
    if (j > 0) {
      set(node_end_[n],
          std::max(0.0,
                   after_start(problem_.is_operator(n) ? times.end_ms[j] : times.loads_end_ms[j])));
    }
    if (problem_.is_operator(n)) set(z_[n][j], 1);
  }
  for (SubgraphId j = 1; j <= problem_.subgraphs(); ++j) {
    for (std::size_t e = problem_.edges.size(); e-- > 0;) {  // topological order, from the end
      const auto& [u, v] = problem_.edges[e];
      if (problem_.is_operator(u) && values[z_[v][j]] > 0) set(z_[u][j], 1);
      if (assignment.subgraph[v] != j || edge_in(u, j) == kNoColumn) continue;
      if (!problem_.is_fixed(u) && assignment.subgraph[u] == j) continue;
      set(edge_in(u, j), 1);
      if (problem_.is_fixed(u) || assignment.subgraph[u] == 0) continue;
      const std::size_t device = problem_.device_of(assignment.subgraph[u]);
      set(copy_in_[u][device * (problem_.subgraphs() + 1) + j], 1);
    }
    set(loads_end_[j], after_start(times.loads_end_ms[j]));
    set(start_[j], after_start(times.start_ms[j]));
    set(end_[j], after_start(times.end_ms[j]));
  }
  set(latency_, after_start(times.latency_ms));
  if (rank_.empty()) return values;
  for (SubgraphId j = 1; j <= problem_.subgraphs(); ++j) {
    set(rank_[j], static_cast<double>(times.rank[j]));
  }
  for (std::size_t v = 0; v < problem_.operators.size(); ++v) {
    set(node_rank_[v], static_cast<double>(times.rank[assignment.subgraph[v]]));
  }
  return values;
}

SubmodelAssignment SubmodelProgram::assignment(const std::vector<double>& values) const {
  SubmodelAssignment result;
  for (std::size_t n = 0; n < problem_.fixed_node(0); ++n) {
    SubgraphId most = problem_.is_operator(n) ? kUnplaced : 0;
    double value = 0.5;
    for (SubgraphId j = 0; j <= problem_.subgraphs(); ++j) {
      if (x(n, j) == kNoColumn || values[x(n, j)] <= value) continue;
      most = j;
      value = values[x(n, j)];
    }
    result.subgraph.push_back(most);
  }
  drop_unread(problem_, result);
  return result;
}

}  // namespace hios::scheduler::sortinghat
