// Everything that can be settled before the first iteration is settled in the constructor: one
// arena for all tensors, one bound operator for each operator on its lane, one request for each
// message. What remains is a loop over the plan's steps that calls them.
//
// The clock is read where the rank's time changes hands: around a stage's kernels, around a wait.
// What lies between is the executor's own, overhead_ms(). The step that runs is published as one
// relaxed atomic counter, so that a watchdog can tell a rank that hangs, and on what, at the cost
// of a store a step. Tests: executor_test.cpp (results against one rank, bit for bit),
// allocation_test.cpp (no allocation in run_once).
#include "engine/executor.h"

#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/bind.h"
#include "engine/timing.h"
#include "hios/error.h"

namespace hios {
namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

// A stage made ready: its operators bound, each group with its lane.
struct BoundStage {
  std::vector<BoundGroup> groups;
  std::vector<Lane> lanes;
};

}  // namespace

struct Executor::State {
  State(const CoarseGraph& coarse_graph, const Model& the_model, const RankPlan& rank_plan,
        Backend& the_backend, mpi::Transport& the_transport)
      : coarse(coarse_graph),
        model(the_model),
        plan(rank_plan),
        backend(the_backend),
        transport(the_transport),
        clocks(rank_plan.stages.size()) {}

  void allocate(TensorSource& source);
  void bind(TensorSource& source);
  BoundOperator* bind_one(OpId op, const Lane& lane, TensorSource& source);
  void open_channel();
  std::byte* place(OpId op) { return arena->data() + plan.slot(op).offset; }

  void run_steps();
  void compute(std::size_t stage);
  template <class Wait>
  void wait(Wait&& wait_for_it);
  double now_ms() const { return ms_between(begin, Clock::now()); }
  std::string describe(const Step& step) const;

  const CoarseGraph& coarse;
  const Model& model;
  const RankPlan& plan;
  Backend& backend;
  mpi::Transport& transport;

  // In the order in which they are made; operators and requests go before the memory they use.
  std::unique_ptr<Buffer> input, arena;
  std::vector<std::unique_ptr<BoundOperator>> operators;
  std::vector<BoundStage> stages;
  std::unique_ptr<mpi::Channel> channel;  // none where no message is planned

  bool recording = false;
  std::vector<StageClock> clocks;
  Clock::time_point begin;
  std::optional<double> awaited_ms;  // when the coming stage began to wait, if it did
  double elsewhere_ms = 0;           // in kernels and waits of this iteration
  double overhead_ms = 0;

  // Grows by steps + 2 in an iteration, so that its remainder tells where the rank is: 0 between
  // iterations, i in step i − 1, and last in the wait for the end of all messages.
  std::atomic<std::uint64_t> progress{0};
  std::uint64_t advances = 0;
  void advance() { progress.store(++advances, std::memory_order_relaxed); }
};

void Executor::State::allocate(TensorSource& source) {
  if (plan.slots.empty()) return;
  const std::string rank = "rank " + std::to_string(plan.rank.index());
  arena = backend.allocate(plan.arena_bytes, "the tensors of " + rank);
  std::memset(arena->data(), 0, plan.arena_bytes);  // the pages are there before the first run
  const Shape& shape = model.tensor(model.input()).shape;
  input = backend.allocate(shape.size_bytes(), "the model's input on " + rank);
  source.input(
      model, {reinterpret_cast<float*>(input->data()), static_cast<std::size_t>(shape.elements())});
}

BoundOperator* Executor::State::bind_one(OpId op, const Lane& lane, TensorSource& source) {
  std::vector<const std::byte*> inputs;
  for (const TensorId tensor : coarse.layers(op).inputs) {
    const auto producer = coarse.producer(tensor);
    inputs.push_back(producer ? place(*producer) : input->data());
  }
  operators.push_back(bind_operator(coarse, model, op, backend, inputs, place(op), lane, source));
  return operators.back().get();
}

void Executor::State::bind(TensorSource& source) {
  for (const Stage& stage : plan.stages) {
    BoundStage bound;
    bound.lanes = lanes(stage.groups.size(), backend.threads());
    for (std::size_t g = 0; g < stage.groups.size(); ++g) {
      BoundGroup group;
      for (const OpId op : stage.groups[g]) {
        group.push_back(bind_one(op, bound.lanes[g], source));
      }
      bound.groups.push_back(std::move(group));
    }
    stages.push_back(std::move(bound));
  }
}

void Executor::State::open_channel() {
  const auto messages = [&](const std::vector<PlannedMessage>& planned) {
    std::vector<mpi::Message> list;
    for (const PlannedMessage& message : planned) {
      list.push_back({message.peer, message.tag, place(message.op), message.size_bytes});
    }
    return list;
  };
  if (plan.sends.empty() && plan.receives.empty()) return;
  channel = transport.open_channel(messages(plan.sends), messages(plan.receives));
}

template <class Wait>
void Executor::State::wait(Wait&& wait_for_it) {
  const double from = now_ms();
  if (!awaited_ms) awaited_ms = from;
  wait_for_it();
  elsewhere_ms += now_ms() - from;
}

void Executor::State::compute(std::size_t stage) {
  // A rank that computes makes no progress with messages, unless it asks: before each stage (what
  // the messages take then is theirs, as if awaited), and between operators.
  void (*poll)(void*) = nullptr;
  double start = now_ms();
  if (channel) {
    poll = [](void* open) { static_cast<mpi::Channel*>(open)->poll(); };
    poll(channel.get());
    const double before = std::exchange(start, now_ms());
    elsewhere_ms += start - before;
  }
  backend.run_stage(stages[stage].groups, stages[stage].lanes, poll, channel.get());
  const double end = now_ms();
  elsewhere_ms += end - start;
  if (recording) clocks[stage] = {awaited_ms.value_or(start), start, end};
  awaited_ms.reset();
}

void Executor::State::run_steps() {
  advance();
  if (channel) channel->start_receives();
  for (const Step& step : plan.steps) {
    std::visit(Overloaded{
                   [&](const AwaitReceive& s) { wait([&] { channel->await_receive(s.receive); }); },
                   [&](const AwaitSend& s) { wait([&] { channel->await_send(s.send); }); },
                   [&](const Compute& s) { compute(s.stage); },
                   [&](const StartSend& s) { channel->start_send(s.send); },
               },
               step);
    advance();
  }
  if (channel) wait([&] { channel->finish(); });
  advance();
}

std::string Executor::State::describe(const Step& step) const {
  const auto name = [&](OpId op) { return coarse.graph.op(op).name; };
  const auto with = [&](const PlannedMessage& message, const char* preposition) {
    return name(message.op) + preposition + "rank " + std::to_string(message.peer.index());
  };
  return std::visit(
      Overloaded{
          [&](const AwaitReceive& s) {
            return "waiting for " + with(plan.receives[s.receive], " from ");
          },
          [&](const AwaitSend& s) {
            return "waiting for the send of " + with(plan.sends[s.send], " to ");
          },
          [&](const StartSend& s) { return "sending " + with(plan.sends[s.send], " to "); },
          [&](const Compute& s) {
            std::string text = "stage " + std::to_string(s.stage) + ":";
            const char* before = " ";
            for (const Group& group : plan.stages[s.stage].groups) {
              for (const OpId op : group) {
                text += before + name(op);
                before = ", ";
              }
            }
            return text;
          },
      },
      step);
}

Executor::Executor(const CoarseGraph& coarse, const Model& model, const RankPlan& plan,
                   Backend& backend, mpi::Transport& transport, TensorSource& source)
    : state_(std::make_unique<State>(coarse, model, plan, backend, transport)) {
  state_->allocate(source);
  state_->bind(source);
  state_->open_channel();
}

Executor::~Executor() = default;

double Executor::run_once() {
  State& state = *state_;
  state.elsewhere_ms = 0;
  state.awaited_ms.reset();
  state.begin = Clock::now();
  try {
    state.run_steps();
  } catch (const std::exception& error) {
    throw RunError("rank " + std::to_string(state.plan.rank.index()) + " on " +
                   state.transport.host() + ", " + current_step() + ": " + error.what());
  }
  const double total = state.now_ms();
  state.overhead_ms = total - state.elsewhere_ms;
  return total;
}

void Executor::record_stages(bool on) { state_->recording = on; }

std::span<const StageClock> Executor::stage_clocks() const { return state_->clocks; }

double Executor::overhead_ms() const { return state_->overhead_ms; }

std::span<const float> Executor::output(OpId op) const {
  return {reinterpret_cast<const float*>(state_->place(op)),
          state_->plan.slot(op).size_bytes / sizeof(float)};
}

std::string Executor::current_step() const {
  const auto& steps = state_->plan.steps;
  const std::size_t index = progress() % (steps.size() + 2);
  if (index == 0) return "between two iterations, where ranks wait for each other";
  if (index <= steps.size()) return state_->describe(steps[index - 1]);
  return "waiting for the end of its sends";
}

std::uint64_t Executor::progress() const {
  return state_->progress.load(std::memory_order_relaxed);
}

}  // namespace hios
