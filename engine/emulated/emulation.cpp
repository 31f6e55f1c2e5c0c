// A thread that waits sleeps until its deadline or, where messages of other ranks must be served
// meanwhile, for a fraction of a millisecond at a time, at most until the next change of a flow.
#include "engine/emulated/emulation.h"

#include <sys/prctl.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

#include "engine/host/clock.h"
#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/evaluate/cost_model.h"

namespace hios::emulated {
namespace {

constexpr double kServeMs = 0.1;  // between two looks at messages

Clock::time_point after(Clock::time_point from, double ms) {
  return from +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::milli>(ms));
}

/// Lets this thread wake up within a microsecond of its deadline, where the system allows that.
void wake_on_time() {
  constexpr unsigned long kNanoseconds = 1000;
  prctl(PR_SET_TIMERSLACK, kNanoseconds, 0, 0, 0);
}

/// Returns each operator's time. The cost of a stage is divided among its operators, which run one
/// after the other.
std::vector<double> operator_times(const CostModel& costs, const Schedule& schedule,
                                   std::size_t operators) {
  std::vector<double> times(operators, 0);
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Stage& stage : schedule.devices[d]) {
      double sum = 0;
      std::size_t count = 0;
      for (const Group& group : stage.groups) {
        count += group.size();
        for (const OpId op : group) sum += costs.operator_ms(op, DeviceId(d));
      }
      const double cost_ms = costs.stage_ms(stage, DeviceId(d));
      for (const Group& group : stage.groups) {
        for (const OpId op : group) {
          times[op.index()] = sum > 0 ? cost_ms * costs.operator_ms(op, DeviceId(d)) / sum
                                      : cost_ms / static_cast<double>(count);
        }
      }
    }
  }
  return times;
}

void require_one_host(const mpi::Transport& transport) {
  if (transport.local_size() == transport.size()) return;
  throw InputError(
      "an emulated run has all its ranks on one host, whose memory they share: start "
      "them there");
}

}  // namespace

std::string digest_of_times(const Machine& machine, const Schedule& schedule) {
  const CostModel costs = CostModel::from_graph(machine.graph, machine.platform);
  Digest digest;
  const auto add = [&digest](double number) { digest.add(std::bit_cast<std::uint64_t>(number)); };
  for (const double ms : operator_times(costs, schedule, machine.graph.size())) add(ms);
  for (const Bus& bus : machine.platform.topology()->buses()) add(bus.gb_per_s);
  const PlannedFlows flows(machine, costs, schedule);
  for (const Flow& flow : flows.all()) {
    digest.add(flow.buses.size());
    for (const std::size_t bus : flow.buses) digest.add(bus);
    add(flow.latency_ms);
    add(flow.most_bytes_per_ms);
    digest.add(static_cast<std::uint64_t>(flow.size_bytes));
  }
  return digest.hex();
}

Emulation::Emulation(mpi::Transport& transport, const Machine& machine, const Schedule& schedule)
    : machine_(machine),
      ranks_(transport.size()),
      operator_ms_(operator_times(CostModel::from_graph(machine.graph, machine.platform), schedule,
                                  machine.graph.size())),
      flows_(machine, CostModel::from_graph(machine.graph, machine.platform), schedule) {
  require_one_host(transport);
  wake_on_time();
  const Topology& topology = *machine.platform.topology();
  const bool makes = transport.rank() == Rank(0);
  if (makes) queue_ = std::make_unique<FlowQueue>(flows_.all(), topology);
  const std::string name = transport.broadcast(makes ? queue_->name() : std::string());
  if (!makes) queue_ = std::make_unique<FlowQueue>(flows_.all(), topology, name);
  transport.barrier();  // the queue's maker stays until all have opened it
}

// While flows are under way, one of them at least moves as fast as alone or shares a full bus, so
// any loads or messages take at most the sum of their times alone. A rank without loads waits for
// the end of one inference and for all loads alone before its next step.
double Emulation::longest_wait_ms() const {
  double sum_ms = std::accumulate(operator_ms_.begin(), operator_ms_.end(), 0.0);
  const std::span<const Bus> buses = machine_.platform.topology()->buses();
  for (const Flow& flow : flows_.all()) {
    sum_ms += flow.latency_ms;
    if (flow.size_bytes == 0) continue;
    double bytes_per_ms = flow.most_bytes_per_ms;
    for (const std::size_t bus : flow.buses) {
      bytes_per_ms = std::min(bytes_per_ms, buses[bus].gb_per_s * kBytesPerMsOfGb);
    }
    sum_ms += static_cast<double>(flow.size_bytes) / bytes_per_ms;
  }
  return 2 * sum_ms;
}

void Emulation::sleep(double ms, void (*poll)(void*), void* poll_argument) {
  if (!passes_ || ms <= 0) return;
  const Clock::time_point deadline = after(Clock::now(), ms);
  if (poll == nullptr) return std::this_thread::sleep_until(deadline);
  for (Clock::time_point now = Clock::now(); now < deadline; now = Clock::now()) {
    poll(poll_argument);
    std::this_thread::sleep_until(std::min(deadline, after(now, kServeMs)));
  }
}

std::optional<std::size_t> Emulation::read_in_place(OpId op) const {
  return all_loaded_ ? std::nullopt : flows_.read(op);
}

void Emulation::run_flow(std::size_t flow, void (*poll)(void*), void* poll_argument) {
  if (!passes_) return;
  const std::uint64_t before = queue_->ended(flow);
  queue_->start(flow);
  if (poll == nullptr) return queue_->wait(flow);
  while (queue_->ended(flow) == before) {
    idle();
    poll(poll_argument);
  }
}

void Emulation::load(std::size_t lane, std::size_t index, const std::atomic<bool>& stop) {
  thread_local const bool on_time = (wake_on_time(), true);
  static_cast<void>(on_time);
  if (!passes_ || stop) return;
  const std::size_t flow = flows_.load(lane, index);
  queue_->start(flow);
  queue_->wait(flow, &stop);
}

// A flow's end is known in advance, the arrival of a message is not.
void Emulation::idle() {
  queue_->advance();
  const double until_ms = queue_->next_change_ms() - queue_->now_ms();
  std::this_thread::sleep_for(
      std::chrono::duration<double, std::milli>(std::clamp(until_ms, 0.0, kServeMs)));
}

}  // namespace hios::emulated
