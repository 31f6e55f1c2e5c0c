#include "scheduler/split/modules/subproblem.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

// Devices have names and kinds of their own, so that times by name stay unambiguous whatever the
// names of the whole graph's devices.

namespace hios::scheduler::split {
namespace {

std::string name_of(std::size_t device) { return std::string("d").append(std::to_string(device)); }

}  // namespace

Subproblem::Subproblem(const CostModel& whole, std::vector<Member> members,
                       std::span<const Bytes> held)
    : members_(std::move(members)) {
  std::vector<std::optional<OpId>> numbers(whole.graph().size());
  for (std::size_t i = 0; i < members_.size(); ++i) numbers[members_[i].op.index()] = OpId(i);
  for (std::size_t d = 0; d < whole.platform().size(); ++d) {
    devices_.push_back({name_of(d), "subproblem", 1, 1, 0, ""});
  }
  note(static_cast<double>(members_.size()));  // no key is a prefix of another
  for (const Member& member : members_) add_operator(whole, member);
  add_edges(whole, numbers);
  limit_memory(whole, held);
  if (!possible_) return;
  graph_ = Graph("subproblem", std::move(operators_), std::move(edges_));
  platform_ = Platform(std::move(devices_));
  costs_.emplace(CostModel::from_graph(graph_, platform_));
}

void Subproblem::note(double value) {
  std::array<char, sizeof value> bytes;
  std::memcpy(bytes.data(), &value, sizeof value);
  key_.append(bytes.data(), bytes.size());
}

void Subproblem::add_operator(const CostModel& whole, const Member& member) {
  const Operator& given = whole.graph().op(member.op);
  Operator op;
  op.name = std::to_string(operators_.size());
  bool anywhere = false;
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const bool here =
        whole.can_run(member.op, DeviceId(d)) && (!member.device || *member.device == DeviceId(d));
    const double ms = member.free ? 0 : whole.operator_ms(member.op, DeviceId(d));
    note(here ? ms : -1);
    if (!here) continue;
    op.time_by_device.emplace(devices_[d].name, ms);
    anywhere = true;
  }
  possible_ = possible_ && anywhere;
  if (!member.free) {
    op.memory_bytes = given.memory_bytes;
    op.parameter_bytes = given.parameter_bytes;
  }
  op.colocate = given.colocate;
  note(static_cast<double>(op.memory_bytes) + static_cast<double>(op.parameter_bytes));
  const auto label = std::find(labels_.begin(), labels_.end(), op.colocate);
  note(op.colocate.empty() ? -1 : static_cast<double>(label - labels_.begin()));
  if (label == labels_.end()) labels_.push_back(op.colocate);
  operators_.push_back(std::move(op));
}

void Subproblem::add_edges(const CostModel& whole, std::span<const std::optional<OpId>> numbers) {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    for (EdgeId e : whole.graph().in_edges(members_[i].op)) {
      const auto from = numbers[whole.graph().edge(e).from.index()];
      if (!from) continue;
      note(static_cast<double>(from->index()));
      note(static_cast<double>(i));
      Edge edge{*from, OpId(i), 0, whole.transfer_ms(e)};
      note(edge.transfer_ms ? 1 : 0);
      if (edge.transfer_ms) {
        note(*edge.transfer_ms);
      } else {
        PairTimes times;
        for (std::size_t a = 0; a < devices_.size(); ++a) {
          for (std::size_t b = 0; b < devices_.size(); ++b) {
            if (a == b) continue;
            const double ms = whole.transfer_ms(e, DeviceId(a), DeviceId(b));
            note(ms);
            times[devices_[a].name].emplace(devices_[b].name, ms);
          }
        }
        edge.transfer_by_pair = std::make_shared<const PairTimes>(std::move(times));
      }
      edges_.push_back(std::move(edge));
    }
  }
}

/// Subtracts the memory that others hold. 0 would mean no limit, so a full device keeps one byte.
void Subproblem::limit_memory(const CostModel& whole, std::span<const Bytes> held) {
  for (std::size_t d = 0; d < devices_.size(); ++d) {
    const Bytes limit = whole.platform().device(DeviceId(d)).memory_bytes;
    if (limit != 0) {
      const Bytes taken = held.empty() ? 0 : std::min(held[d], limit);
      devices_[d].memory_bytes = std::max<Bytes>(1, limit - taken);
    }
    note(static_cast<double>(devices_[d].memory_bytes));
  }
}

}  // namespace hios::scheduler::split
