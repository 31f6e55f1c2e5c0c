#include "scheduler/milp/formulation.h"

#include <algorithm>
#include <limits>

#include "hios/base/error.h"
#include "scheduler/milp/solver.h"

// The program of Ghannane and Abdelfattah, "DiviML", section IV-A, for one input, with the
// transfers of Zhang et al., "MOIRAI: Towards Optimal Placement for Distributed Inference on
// Heterogeneous Devices", section III-D. These rows differ, to strengthen the relaxation:
//  - (1) an operator is on one device; devices that the horizon excludes have no column.
//  - (2), (3) One start per operator, not per operator and device. It is at least its device's
//    head; its time and its device's tail follow.
//  - (3) as printed multiplies the transfer by x + x − 1, which a relaxation makes 0. Here a
//    column, at most each end's own, says that both ends are on one device; otherwise the transfer
//    is paid. If transfers differ by pair of devices, columns say which pair, and at each end they
//    sum up to that end's device (MOIRAI's u, with one row per end and device instead of one per
//    pair).
//  - (6) memory: outputs and parameters, as validate() counts them.
//  - (7) no overlap; as printed it has i's time instead of j's. Each pair has its own big M: from
//    the latest end of one to the earliest start of the other. Pairs that a path orders need no
//    row, and orders that the horizon implies are fixed.

namespace hios::scheduler::milp {
namespace {

using Row = Program::Row;
using Term = Program::Term;

}  // namespace

Symmetry symmetry_named(const std::string& name) {
  if (name == "none") return Symmetry::kNone;
  if (name == "tasks") return Symmetry::kTasks;
  if (name == "time") return Symmetry::kTime;
  throw InputError("milp: there is no symmetry " + quote(name) + "; there are: none, tasks, time");
}

Formulation::Formulation(const Horizon& horizon, const CostModel& costs, Symmetry symmetry)
    : horizon_(horizon), symmetry_(symmetry) {
  end_ = program_.add({1, 0, kScale, false});
  add_placements();
  add_starts();
  for (std::size_t a = 0; a < horizon.arcs().size() && !too_large(); ++a) add_arc(a);
  add_orders();
  add_memory(costs);
  add_symmetry(costs, symmetry);
  const hios::Contention contention = costs.platform().contention();
  if (contention != hios::Contention::kNone) links_.emplace().add(*this, contention);
}

std::optional<std::uint32_t> Formulation::on(std::size_t v, std::size_t d) const {
  const std::int64_t column = on_[v * horizon_.devices() + d];
  if (column < 0) return std::nullopt;
  return static_cast<std::uint32_t>(column);
}

void Formulation::add_duration(Row& row, std::size_t v, double sign) const {
  for (std::size_t d = 0; d < horizon_.devices(); ++d) {
    if (const auto x = on(v, d)) row.terms.push_back({*x, sign * scaled(horizon_.time_ms(v, d))});
  }
}

void Formulation::add_placements() {
  const std::size_t devices = horizon_.devices();
  on_.assign(horizon_.operators() * devices, -1);
  for (std::size_t v = 0; v < horizon_.operators(); ++v) {
    const std::size_t leader = horizon_.leader(v);
    Row one{1, 1, {}};
    for (std::size_t d = 0; d < devices; ++d) {
      if (!horizon_.may_run(v, d)) continue;
      std::int64_t& column = on_[v * devices + d];
      column = leader == v ? program_.add({0, 0, 1, true}) : on_[leader * devices + d];
      one.terms.push_back({static_cast<std::uint32_t>(column), 1});
    }
    if (leader == v) program_.add(std::move(one));
  }
}

void Formulation::add_starts() {
  for (std::size_t v = 0; v < horizon_.operators(); ++v) {
    const double latest = horizon_.latency_ms() - horizon_.time_ms(v) - horizon_.tail_ms(v);
    starts_.push_back(program_.add({0, scaled(horizon_.head_ms(v)),
                                    std::max(scaled(latest), scaled(horizon_.head_ms(v))), false}));
    Row after{0, kInfinity, {{starts_[v], 1}}}, before{0, kInfinity, {{end_, 1}, {starts_[v], -1}}};
    for (std::size_t d = 0; d < horizon_.devices(); ++d) {
      const auto x = on(v, d);
      if (!x) continue;
      const double rest = horizon_.time_ms(v, d) + horizon_.tail_ms(v, d);
      if (horizon_.head_ms(v, d) > 0) after.terms.push_back({*x, -scaled(horizon_.head_ms(v, d))});
      if (rest > 0) before.terms.push_back({*x, -scaled(rest)});
    }
    if (after.terms.size() > 1) program_.add(std::move(after));
    program_.add(std::move(before));
  }
}

/// Returns the arc's cost between any two different devices of its ends, if it is the same for all.
std::optional<double> Formulation::uniform_transfer_ms(std::size_t a) const {
  const Horizon::Arc& arc = horizon_.arcs()[a];
  std::optional<double> transfer;
  for (std::size_t from = 0; from < horizon_.devices(); ++from) {
    for (std::size_t to = 0; to < horizon_.devices(); ++to) {
      if (from == to || !on(arc.from, from) || !on(arc.to, to)) continue;
      const double here = horizon_.transfer_ms(arc, from, to);
      if (transfer && *transfer != here) return std::nullopt;
      transfer = here;
    }
  }
  return transfer ? transfer : 0;
}

void Formulation::add_arc(std::size_t a) {
  const Horizon::Arc& arc = horizon_.arcs()[a];
  Row row{0, kInfinity, {{starts_[arc.to], 1}, {starts_[arc.from], -1}}};
  add_duration(row, arc.from, -1);
  if (horizon_.leader(arc.from) != horizon_.leader(arc.to)) {
    const std::optional<double> transfer = uniform_transfer_ms(a);
    if (!transfer) {
      add_flows(a, row);
    } else if (*transfer > 0) {
      row.lower = scaled(*transfer);
      for (std::size_t d = 0; d < horizon_.devices(); ++d) {
        const auto from = on(arc.from, d), to = on(arc.to, d);
        if (!from || !to) continue;
        flows_.push_back({a, d, d, program_.add({0, 0, 1, false})});
        row.terms.push_back({flows_.back().column, scaled(*transfer)});
        for (std::uint32_t end : {*from, *to}) {
          program_.add({0, kInfinity, {{end, 1}, {flows_.back().column, -1}}});
        }
      }
    }
  }
  program_.add(std::move(row));
}

void Formulation::add_flows(std::size_t a, Row& precedence) {
  const Horizon::Arc& arc = horizon_.arcs()[a];
  const std::size_t devices = horizon_.devices();
  std::vector<Row> sent(devices, {0, 0, {}}), received(devices, {0, 0, {}});
  for (std::size_t from = 0; from < devices; ++from) {
    for (std::size_t to = 0; to < devices; ++to) {
      if (!on(arc.from, from) || !on(arc.to, to)) continue;
      flows_.push_back({a, from, to, program_.add({0, 0, 1, false})});
      const std::uint32_t flow = flows_.back().column;
      sent[from].terms.push_back({flow, 1});
      received[to].terms.push_back({flow, 1});
      const double transfer = from == to ? 0 : horizon_.transfer_ms(arc, from, to);
      if (transfer > 0) precedence.terms.push_back({flow, -scaled(transfer)});
    }
  }
  for (std::size_t d = 0; d < devices; ++d) {
    if (const auto x = on(arc.from, d)) sent[d].terms.push_back({*x, -1});
    if (const auto x = on(arc.to, d)) received[d].terms.push_back({*x, -1});
    if (!sent[d].terms.empty()) program_.add(std::move(sent[d]));
    if (!received[d].terms.empty()) program_.add(std::move(received[d]));
  }
}

void Formulation::add_orders() {
  for (std::size_t a = 0; a < horizon_.operators(); ++a) {
    for (std::size_t b = a + 1; b < horizon_.operators() && !too_large(); ++b) {
      if (horizon_.related(a, b)) continue;
      std::optional<std::uint32_t> forth, back;
      for (std::size_t d = 0; d < horizon_.devices(); ++d) {
        if (!on(a, d) || !on(b, d)) continue;
        Row both{-1, kInfinity, {}};  // order >= on + on − 1
        const bool same_leader = horizon_.leader(a) == horizon_.leader(b);
        both.terms = {{*on(a, d), same_leader ? -2.0 : -1.0}};
        if (!same_leader) both.terms.push_back({*on(b, d), -1});
        if (horizon_.may_follow(a, b, d)) {
          if (!forth) forth = program_.add({0, 0, 1, true});
          both.terms.push_back({*forth, 1});
        }
        if (horizon_.may_follow(b, a, d)) {
          if (!back) back = program_.add({0, 0, 1, true});
          both.terms.push_back({*back, 1});
        }
        program_.add(std::move(both));
      }
      if (forth) add_precedence(a, b, *forth);
      if (back) add_precedence(b, a, *back);
      if (forth && back) program_.add({-kInfinity, 1, {{*forth, 1}, {*back, 1}}});
    }
  }
}

void Formulation::add_precedence(std::size_t a, std::size_t b, std::uint32_t column) {
  orders_.push_back({a, b, column});
  const double latest_end = horizon_.latency_ms() - horizon_.tail_ms(a);
  const double far = std::max(0.0, scaled(latest_end - horizon_.head_ms(b)));
  Row row{-far, kInfinity, {{starts_[b], 1}, {starts_[a], -1}, {column, -far}}};
  add_duration(row, a, -1);
  program_.add(std::move(row));
}

void Formulation::add_memory(const CostModel& costs) {
  for (std::size_t d = 0; d < horizon_.devices(); ++d) {
    const auto limit = static_cast<double>(costs.platform().device(DeviceId(d)).memory_bytes);
    if (limit == 0) continue;
    std::vector<double> held(horizon_.operators(), 0);
    for (std::size_t v = 0; v < horizon_.operators(); ++v) {
      const Operator& op = costs.graph().op(horizon_.op(v));
      held[horizon_.leader(v)] +=
          static_cast<double>(op.memory_bytes) + static_cast<double>(op.parameter_bytes);
    }
    Row row{-kInfinity, kScale, {}};
    for (std::size_t v = 0; v < horizon_.operators(); ++v) {
      if (held[v] == 0 || !on(v, d)) continue;
      row.terms.push_back({*on(v, d), kScale * held[v] / limit});
    }
    program_.add(std::move(row));
  }
}

bool Formulation::interchangeable(const CostModel& costs, std::size_t d, std::size_t e) const {
  const auto memory = [&](std::size_t x) {
    return costs.platform().device(DeviceId(x)).memory_bytes;
  };
  if (memory(d) != memory(e)) return false;
  if (costs.launch_ms(DeviceId(d)) != costs.launch_ms(DeviceId(e))) return false;
  for (std::size_t v = 0; v < horizon_.operators(); ++v) {
    if (on(v, d).has_value() != on(v, e).has_value()) return false;
    if (on(v, d) && horizon_.time_ms(v, d) != horizon_.time_ms(v, e)) return false;
  }
  for (const Horizon::Arc& arc : horizon_.arcs()) {
    const auto transfer = [&](std::size_t from, std::size_t to) {
      return horizon_.transfer_ms(arc, from, to);
    };
    if (transfer(d, e) != transfer(e, d)) return false;
    for (std::size_t f = 0; f < horizon_.devices(); ++f) {
      if (f == d || f == e) continue;
      if (transfer(d, f) != transfer(e, f) || transfer(f, d) != transfer(f, e)) return false;
    }
  }
  return true;
}

void Formulation::add_symmetry(const CostModel& costs, Symmetry symmetry) {
  for (std::size_t d = 0; d < horizon_.devices(); ++d) {
    const auto known = std::find_if(classes_.begin(), classes_.end(), [&](const auto& members) {
      return interchangeable(costs, members.front(), d);
    });
    if (known == classes_.end()) {
      classes_.push_back({d});
    } else {
      known->push_back(d);
    }
  }
  if (symmetry == Symmetry::kNone) return;
  for (const auto& members : classes_) {
    for (std::size_t i = 1; i < members.size(); ++i) {
      Row row{0, kInfinity, {}};
      std::vector<double> weight(horizon_.operators(), 0);
      for (std::size_t v = 0; v < horizon_.operators(); ++v) {
        if (!on(v, members[i])) continue;
        weight[horizon_.leader(v)] +=
            symmetry == Symmetry::kTasks ? 1 : scaled(horizon_.time_ms(v, members[i]));
      }
      for (std::size_t v = 0; v < horizon_.operators(); ++v) {
        if (weight[v] == 0) continue;
        row.terms.push_back({*on(v, members[i - 1]), weight[v]});
        row.terms.push_back({*on(v, members[i]), -weight[v]});
      }
      program_.add(std::move(row));
    }
  }
}

}  // namespace hios::scheduler::milp
