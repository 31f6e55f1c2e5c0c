#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <variant>

#include "engine/run/ready/ready_order.h"
#include "engine/run/step_loop.h"

/// StepLoop's loop over stages in the order in which they can run. It looks at messages before each
/// choice, and between two looks while nothing can run, lets others of its core run.
namespace hios {

template <ReadyRunner Runner>
void StepLoop::run_ready(Runner& runner) {
  buffer_ = 0;
  awaited_ms_.reset();
  open_->begin();
  while (!open_->empty()) {
    let_messages_progress(runner);
    const std::optional<std::size_t> ready = earliest_ready(runner);
    const std::size_t next = ready ? *ready : await_ready(runner);
    run_block(blocks_[next], runner);
    open_->end(next);
  }
}

// Returns true where a step can be taken without waiting.
template <ReadyRunner Runner>
bool StepLoop::holds(const Step& step, Runner& runner) const {
  if (const auto* receive = std::get_if<AwaitReceive>(&step)) {
    return runner.received(receive->receive);
  }
  if (const auto* send = std::get_if<AwaitSend>(&step)) return runner.sent(send->send);
  if (!awaits_loads_) return true;
  if (const auto* load = std::get_if<AwaitLoad>(&step)) {
    return loader_->ended(load->lane, load->load);
  }
  if (std::holds_alternative<AwaitOtherLoads>(step)) return courier_->others_ended();
  if (const auto* evict = std::get_if<Evict>(&step)) return parameters_left(evict->eviction);
  return true;
}

// Returns the first step of a block that cannot be taken yet; the block's end where all can.
template <ReadyRunner Runner>
std::size_t StepLoop::first_unmet(const ReadyBlock& block, Runner& runner) const {
  for (std::size_t step = block.first; step <= block.run; ++step) {
    if (!holds(plan_.steps[step], runner)) return step;
  }
  return block.end;
}

template <ReadyRunner Runner>
std::optional<std::size_t> StepLoop::earliest_ready(Runner& runner) const {
  for (const std::size_t block : open_->open()) {
    if (first_unmet(blocks_[block], runner) == blocks_[block].end) return block;
  }
  return {};
}

template <ReadyRunner Runner>
std::size_t StepLoop::await_ready(Runner& runner) {
  begin_wait();
  std::optional<std::size_t> ready;
  while (!ready) {
    name_earliest_wait(runner);
    if (has_messages_) runner.poll();
    idle();
    ready = earliest_ready(runner);
  }
  meter_.charge(&TimeShares::waiting_ms);
  return *ready;
}

// The earliest stage that has not run is open: a stage follows only earlier ones. A load may have
// ended just now, so that it waits for nothing any more.
template <ReadyRunner Runner>
void StepLoop::name_earliest_wait(Runner& runner) {
  const auto open = open_->open();
  const auto stage =
      std::ranges::find_if(open, [&](std::size_t block) { return blocks_[block].is_stage; });
  const ReadyBlock& block = blocks_[stage == open.end() ? open.front() : *stage];
  const std::size_t step = first_unmet(block, runner);
  if (step == block.end || progress_.is_in_step(step)) return;
  others_wait_.store(block.is_stage ? open_->stages() - 1 : 0, std::memory_order_relaxed);
  progress_.enter_step(step);
}

// A wait before the block is one for its messages, one after the other, as in the plan's order.
template <ReadyRunner Runner>
void StepLoop::run_block(const ReadyBlock& block, Runner& runner) {
  double since_ms = awaited_ms_.value_or(std::numeric_limits<double>::infinity());
  for (std::size_t step = block.first; step < block.run; ++step) {
    if (const auto* receive = std::get_if<AwaitReceive>(&plan_.steps[step])) {
      runner.take_receive(receive->receive);
      since_ms = runner.waited_for_receive(receive->receive, since_ms);
    } else if (const auto* send = std::get_if<AwaitSend>(&plan_.steps[step])) {
      runner.take_send(send->send);
    }
  }
  for (std::size_t step = block.run; step < block.end; ++step) {
    progress_.enter_step(step);
    if (const auto* send = std::get_if<StartSend>(&plan_.steps[step])) {
      runner.start_send(send->send);
    } else if (const auto* eviction = std::get_if<Evict>(&plan_.steps[step])) {
      if (awaits_loads_ && options_.overwrites_evicted) kept_->evict(eviction->eviction);
    } else {
      run_operators(stage_of(plan_.steps[step]), meter_.charge(&TimeShares::own_ms), runner);
    }
  }
}

}  // namespace hios
