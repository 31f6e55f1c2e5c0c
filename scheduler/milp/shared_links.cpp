#include "scheduler/milp/shared_links.h"

#include <algorithm>
#include <tuple>

#include "scheduler/milp/formulation.h"

// Zhang et al., "MOIRAI", section III-D, (8): two tensors on one channel are sent one after the
// other. The text says channel; the printed rows compare transfers that leave or enter a device.
// Here links are the former, ports the latter. A task is a tensor and a device that may need it,
// not an edge, since the tensor is sent once to all its consumers there.
//
// With x for "runs there", T for the start of a task and q for "before":
//  - sent:     travels >= x(consumer, to) − x(producer, to), for every consumer
//  - ready:    T >= end of the producer
//  - arrival:  start(consumer) >= T + transfer, if the consumer is on `to` and the producer is not
//  - one at a time: q(a, b) + q(b, a) >= 1 if both are sent and share a link or port, T(b) >= T(a)
//    + transfer of each of a's consumers on its device, if q(a, b)

namespace hios::scheduler::milp {
namespace {

using Row = Program::Row;

// A transfer longer than the horizon can be clamped to 1.5 times the horizon; so kBigM exceeds any
// start and transfer together.
constexpr double kLongest = 1.5 * Formulation::kScale, kBigM = 3 * Formulation::kScale;

/// Time until a consumer can start (transfer_ms), or time on the link (link_ms).
using TransferCost = double (Horizon::*)(const Horizon::Arc&, std::size_t from,
                                         std::size_t to) const;

/// Adds Σ over the producer's devices of the arc's cost from there.
void add_transfer_cost(Row& row, const Formulation& formulation, const Horizon::Arc& arc,
                       std::size_t to, double sign, TransferCost cost_ms) {
  const Horizon& horizon = formulation.horizon();
  for (std::size_t from = 0; from < horizon.devices(); ++from) {
    const auto x = formulation.on(arc.from, from);
    if (!x || from == to) continue;
    const double transfer =
        std::min(kLongest, formulation.scaled((horizon.*cost_ms)(arc, from, to)));
    if (transfer > 0) row.terms.push_back({*x, sign * transfer});
  }
}

}  // namespace

void SharedLinks::add(Formulation& formulation, hios::Contention contention) {
  contention_ = contention;
  const Horizon& horizon = formulation.horizon();
  for (std::size_t v = 0; v < horizon.operators(); ++v) {
    for (std::size_t d = 0; d < horizon.devices() && !formulation.too_large(); ++d) {
      add_task(formulation, v, d);
    }
  }
  for (std::size_t a = 0; a < tasks_.size(); ++a) {
    for (std::size_t b = a + 1; b < tasks_.size() && !formulation.too_large(); ++b) {
      add_pair(formulation, a, b);
    }
  }
}

void SharedLinks::add_task(Formulation& formulation, std::size_t producer, std::size_t device) {
  const Horizon& horizon = formulation.horizon();
  Task task{producer, device, {}, 0, 0};
  for (std::size_t a = 0; a < horizon.arcs().size(); ++a) {
    const Horizon::Arc& arc = horizon.arcs()[a];
    const bool together = horizon.leader(arc.from) == horizon.leader(arc.to);
    if (arc.from == producer && !together && formulation.on(arc.to, device)) task.arcs.push_back(a);
  }
  if (task.arcs.empty()) return;
  task.travels = formulation.add(Program::Column{0, 0, 1, false});
  task.start = formulation.add(Program::Column{0, 0, Formulation::kScale, false});
  Row ready{0, kInfinity, {{task.start, 1}, {formulation.start(producer), -1}}};
  formulation.add_duration(ready, producer, -1);
  formulation.add(std::move(ready));
  add_arrivals(formulation, task);
  tasks_.push_back(std::move(task));
}

void SharedLinks::add_arrivals(Formulation& formulation, const Task& task) const {
  for (std::size_t a : task.arcs) {
    const Horizon::Arc& arc = formulation.horizon().arcs()[a];
    const std::uint32_t consumer = *formulation.on(arc.to, task.to);
    const auto producer = formulation.on(arc.from, task.to);
    Row sent{0, kInfinity, {{task.travels, 1}, {consumer, -1}}};
    Row arrival{
        -kBigM, kInfinity, {{formulation.start(arc.to), 1}, {task.start, -1}, {consumer, -kBigM}}};
    if (producer) {
      sent.terms.push_back({*producer, 1});
      arrival.terms.push_back({*producer, kBigM});
    }
    add_transfer_cost(arrival, formulation, arc, task.to, -1, &Horizon::transfer_ms);
    formulation.add(std::move(sent));
    formulation.add(std::move(arrival));
  }
}

/// Adds the order of two tasks that may share a link or port: one ends before the other starts.
void SharedLinks::add_pair(Formulation& formulation, std::size_t a, std::size_t b) {
  const Task &first = tasks_[a], &second = tasks_[b];
  const bool same_end = first.to == second.to;
  const bool ports = contention_ == hios::Contention::kPort;
  if (!same_end && !ports) return;
  const std::uint32_t forth = add_order(formulation, a, b), back = add_order(formulation, b, a);
  formulation.add(Row{-kInfinity, 1, {{forth, 1}, {back, 1}}});
  Row both{-1, kInfinity, {{forth, 1}, {back, 1}, {first.travels, -1}, {second.travels, -1}}};
  if ((same_end && ports) || first.from == second.from) {
    formulation.add(std::move(both));
    return;
  }
  for (std::size_t d = 0; d < formulation.horizon().devices(); ++d) {  // both are sent from d
    const auto x = formulation.on(first.from, d), y = formulation.on(second.from, d);
    if (!x || !y || d == first.to || d == second.to) continue;
    Row there = both;
    there.lower = *x == *y ? -2 : -3;
    there.terms.push_back({*x, -1});
    if (*x != *y) there.terms.push_back({*y, -1});
    formulation.add(std::move(there));
  }
}

std::uint32_t SharedLinks::add_order(Formulation& formulation, std::size_t first,
                                     std::size_t second) {
  const std::uint32_t column = formulation.add(Program::Column{0, 0, 1, true});
  orders_.push_back({first, second, column});
  for (std::size_t a : tasks_[first].arcs) {
    const Horizon::Arc& arc = formulation.horizon().arcs()[a];
    const std::uint32_t consumer = *formulation.on(arc.to, tasks_[first].to);
    Row row{-2 * kBigM,
            kInfinity,
            {{tasks_[second].start, 1},
             {tasks_[first].start, -1},
             {column, -kBigM},
             {consumer, -kBigM}}};
    add_transfer_cost(row, formulation, arc, tasks_[first].to, -1, &Horizon::link_ms);
    formulation.add(std::move(row));
  }
  return column;
}

bool SharedLinks::sent(const Formulation& formulation, const Task& task,
                       const std::vector<std::size_t>& device) const {
  if (device[task.from] == task.to) return false;
  return std::any_of(task.arcs.begin(), task.arcs.end(), [&](std::size_t a) {
    return device[formulation.horizon().arcs()[a].to] == task.to;
  });
}

bool SharedLinks::share(const Task& a, const Task& b,
                        const std::vector<std::size_t>& device) const {
  const bool same_begin = device[a.from] == device[b.from], same_end = a.to == b.to;
  return contention_ == hios::Contention::kPort ? same_begin || same_end : same_begin && same_end;
}

void SharedLinks::set(const Formulation& formulation, const Timeline& timeline,
                      const std::vector<std::size_t>& stands_for,
                      const std::vector<std::size_t>& device, std::vector<double>& values) const {
  const Horizon& horizon = formulation.horizon();
  // position in the order of transfers from 1 on; 0: not sent
  std::vector<std::size_t> turn(tasks_.size(), 0);
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    const double ready = values[formulation.start(task.from)] +
                         formulation.scaled(horizon.time_ms(task.from, device[task.from]));
    values[task.start] = ready;
    for (std::size_t i = 0; i < timeline.transfers.size(); ++i) {
      const TransferTimes& transfer = timeline.transfers[i];
      if (horizon.position(transfer.producer) != task.from) continue;
      if (stands_for[transfer.to.index()] != task.to) continue;
      values[task.start] = formulation.scaled(transfer.start_ms);
      values[task.travels] = 1;
      turn[t] = i + 1;
    }
  }
  const auto times = [&](std::size_t t) {
    const TransferTimes& transfer = timeline.transfers[turn[t] - 1];
    return std::tuple(transfer.start_ms, transfer.end_ms, t);
  };
  for (const Order& order : orders_) {
    const bool both = turn[order.first] > 0 && turn[order.second] > 0 &&
                      share(tasks_[order.first], tasks_[order.second], device);
    values[order.column] = both && times(order.first) < times(order.second) ? 1 : 0;
  }
}

std::vector<PlannedTransfer> SharedLinks::order(const Formulation& formulation,
                                                const std::vector<std::size_t>& device,
                                                const std::vector<double>& values) const {
  struct Sent {
    double middle;  // more robust than starts, which may be off by rounding
    std::size_t task;
  };
  const Horizon& horizon = formulation.horizon();
  std::vector<Sent> all;
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    const Task& task = tasks_[t];
    if (!sent(formulation, task, device)) continue;
    double longest = 0;
    for (std::size_t a : task.arcs) {
      const Horizon::Arc& arc = horizon.arcs()[a];
      if (device[arc.to] != task.to) continue;
      longest = std::max(longest, horizon.link_ms(arc, device[task.from], task.to));
    }
    all.push_back({values[task.start] + formulation.scaled(longest) / 2, t});
  }
  std::sort(all.begin(), all.end(), [](const Sent& a, const Sent& b) {
    return std::tuple(a.middle, a.task) < std::tuple(b.middle, b.task);
  });
  std::vector<PlannedTransfer> transfers;
  for (const Sent& one : all) {
    const Task& task = tasks_[one.task];
    transfers.push_back({horizon.op(task.from), DeviceId(task.to)});
  }
  return transfers;
}

}  // namespace hios::scheduler::milp
