#include "support/emulated_cuda/runtime/device.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "hios/base/numbers/random.h"
#include "support/emulated_cuda/runtime/settings.h"

namespace hios::cuda_emulation {
namespace {

using Clock = std::chrono::steady_clock;

/// Work that no host waits for runs after this time: another process may wait for it.
constexpr std::chrono::milliseconds kPatience{2};
constexpr std::chrono::microseconds kPause{200};
/// A late device answers so many questions about an event before it runs something for it.
constexpr unsigned kQuestions = 4;

/// Returns the time that a piece of work takes on the device's clock: by its name and the seed, so
/// that trials choose the same everywhere, and other seeds choose otherwise. Long, so that few runs
/// suffice for a trial.
double duration_ms(const Work& work) {
  constexpr double kShort = 30;
  constexpr std::uint64_t kSteps = 4;
  const std::uint64_t step = Random(settings().seed, work.name).below(kSteps);
  return work.run ? kShort * static_cast<double>(std::uint64_t{1} << (2 * step)) : 0.001;
}

}  // namespace

Device& Device::get() {
  static Device* const device = new Device;  // its thread may outlive main()
  return *device;
}

Device::Device() {
  std::thread([this] { run_old_work(); }).detach();
}

void Device::run_old_work() {
  for (;;) {
    std::this_thread::sleep_for(kPause);
    const std::unique_lock<std::mutex> held(mutex_);
    const auto old = Clock::now() - kPatience;
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      Queue& queue = *queues_[i];
      if (!queue.items.empty() && queue.items.front().queued < old && ready(queue.items.front())) {
        step(queue);
      }
    }
    std::erase_if(queues_, [](const std::shared_ptr<Queue>& queue) {
      return queue.use_count() == 1 && queue->items.empty();
    });
  }
}

std::shared_ptr<Queue> Device::make_queue() {
  return queues_.emplace_back(std::make_shared<Queue>());
}

void Device::push(const std::shared_ptr<Queue>& queue, std::vector<Work> works) {
  if (works.empty()) return;
  for (Work& work : works) {
    if (work.records) work.number = work.records->begin();
  }
  const std::size_t count = works.size();
  queue->items.push_back({std::move(works), Clock::now(), std::vector<bool>(count), count});
  if (settings().order != Order::kEarly) return;
  while (step_any()) {
  }
}

std::vector<std::size_t> Device::free_works(const Item& item) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < item.works.size(); ++i) {
    const Work& work = item.works[i];
    bool is_free = !item.ended[i] && (!work.waits_for || work.waits_for->ended(work.number));
    for (const std::size_t earlier : work.after) is_free = is_free && item.ended[earlier];
    if (is_free && (!work.may_run || work.may_run())) free.push_back(i);
  }
  return free;
}

void Device::step(Queue& queue) {
  Item& item = queue.items.front();
  const std::vector<std::size_t> free = free_works(item);
  const std::size_t next = free[next_random(free.size())];
  run(item.works[next]);
  if (sticky_ != cudaSuccess) {
    for (const auto& one : queues_) one->items.clear();
    return;
  }
  item.ended[next] = true;
  if (--item.left == 0) queue.items.pop_front();
}

bool Device::faults(const Work& work) {
  const std::string &name = settings().fault, &range = settings().fault_in;
  const bool named =
      (!name.empty() && work.name == name) || (!range.empty() && work.range == range && work.run);
  return named && ++faulty_ >= settings().fault_at;
}

void Device::run(Work& work) {
  clock_ms_ += duration_ms(work);
  try {
    if (faults(work)) throw Fault{cudaErrorLaunchFailure};
    if (work.run) work.run();
  } catch (const Fault& fault) {
    sticky_ = fault.error;
    return;
  }
  if (work.records && work.number > 0) {
    work.records->ms = clock_ms_;
    work.records->end(work.number);
  }
}

cudaError_t Device::run_now(Work& work) {
  const cudaError_t before = std::exchange(sticky_, cudaSuccess);
  run(work);
  return std::exchange(sticky_, before);
}

Queue* Device::queue_that_records(const EventState& state, std::uint64_t number) {
  for (const auto& queue : queues_) {
    for (const Item& item : queue->items) {
      for (const Work& work : item.works) {
        if (work.records.get() == &state && work.number == number) return queue.get();
      }
    }
  }
  return nullptr;
}

bool Device::step_towards(Queue& queue) {
  if (queue.items.empty()) return false;
  Item& item = queue.items.front();
  if (ready(item)) {
    step(queue);
    return true;
  }
  for (std::size_t i = 0; i < item.works.size(); ++i) {
    const Work& work = item.works[i];
    if (!item.ended[i] && work.waits_for && !work.waits_for->ended(work.number)) {
      return step_towards(*work.waits_for, work.number);
    }
  }
  return false;
}

bool Device::step_towards(const EventState& state, std::uint64_t number) {
  Queue* const queue = queue_that_records(state, number);
  return queue != nullptr && step_towards(*queue);
}

bool Device::step_any() {
  std::vector<Queue*> runnable;
  for (const auto& queue : queues_) {
    if (!queue->items.empty() && ready(queue->items.front())) runnable.push_back(queue.get());
  }
  if (runnable.empty()) return false;
  step(*runnable[next_random(runnable.size())]);
  return true;
}

void Device::drain(std::unique_lock<std::mutex>& held, const std::shared_ptr<Queue>& queue) {
  while (!queue->items.empty() && sticky_ == cudaSuccess) {
    const bool moved = settings().order == Order::kLate ? step_towards(*queue) : step_any();
    if (moved) continue;
    held.unlock();
    std::this_thread::sleep_for(kPause);
    held.lock();
  }
}

void Device::drain_all(std::unique_lock<std::mutex>& held) {
  const std::vector<std::shared_ptr<Queue>> all = queues_;
  for (const auto& queue : all) drain(held, queue);
}

bool Device::completed(const EventState& state, std::uint64_t number) {
  if (state.ended(number)) return true;
  switch (settings().order) {
    case Order::kLate:
      if (++questions_ % kQuestions == 0) step_towards(state, number);
      break;
    case Order::kRandom:
      if (next_random(2) == 0) step_any();
      break;
    case Order::kEarly:
      step_any();
      break;
  }
  return state.ended(number);
}

}  // namespace hios::cuda_emulation
