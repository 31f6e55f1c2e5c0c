// No deadlock: a lane's queue holds copies, and waits for what the main thread had queued before.
// So queues never wait for a host, and the work queue, which waits for the ends of loads that were
// queued before, neither. Tests: tests/engine/cold/device/device_loads_test.cpp, on a fake device
// that runs its queues as late as it may.
#include "engine/cold/device/device_loads.h"

#include <utility>

namespace hios {

DeviceLoads::DeviceLoads(mpi::Accelerator& device, std::vector<Lane> lanes)
    : device_(device), started_(device.make_event(/*shared=*/false)) {
  for (Lane& planned : lanes) {
    OneLane& lane = lanes_.emplace_back();
    lane.queue = device.load_queue(planned.number);
    for (const std::size_t closed : planned.closed) {
      if (closed > 0) planned.awaited[closed - 1] = true;
    }
    lane.joined = join_loads(planned.loads, planned.awaited);
    for (const JoinedLoads& joined : lane.joined) {
      lane.joined_of.resize(joined.end, lane.ends.size());
      lane.ends.push_back(device.make_event(/*shared=*/false));
    }
    for (const auto& copies : planned.loads) {
      Bytes sum = 0;
      for (const ParameterCopy& copy : copies) sum += copy.size_bytes;
      lane.sizes.push_back(sum);
    }
    lane.closed = std::move(planned.closed);
    lane.closed.push_back(planned.loads.size());
    lane.clocks.resize(planned.loads.size());
    lane.queued = planned.loads.size();
    lane.first_mark = std::exchange(marks_of_all_, marks_of_all_ + 2 * lane.joined.size());
  }
}

void DeviceLoads::begin(ClockMarks* marks, std::size_t first_mark) {
  marks_ = marks;
  first_mark_ = first_mark;
  device_.record(*started_, mpi::Queue::kWork);
  for (OneLane& lane : lanes_) {
    lane.next = lane.next_closed = 0;
    lane.queued.store(0, std::memory_order_relaxed);
    device_.wait(*started_, lane.queue);
  }
  for (OneLane& lane : lanes_) queue_open(lane);
}

void DeviceLoads::open_next(std::size_t l) {
  ++lanes_[l].next_closed;
  queue_open(lanes_[l]);
}

void DeviceLoads::queue_open(OneLane& lane) {
  const std::size_t end = lane.closed[lane.next_closed];
  for (; lane.next < lane.joined.size() && lane.joined[lane.next].first < end; ++lane.next) {
    const JoinedLoads& joined = lane.joined[lane.next];
    const std::size_t mark = first_mark_ + lane.first_mark + 2 * lane.next;
    if (marks_) marks_->mark_in(lane.queue, mark);
    for (const ParameterCopy& copy : joined.copies) {
      device_.copy(copy.to, copy.from, copy.size_bytes, lane.queue);
    }
    if (marks_) marks_->mark_in(lane.queue, mark + 1);
    device_.record(*lane.ends[lane.next], lane.queue);
    lane.queued.store(joined.end, std::memory_order_relaxed);
  }
}

bool DeviceLoads::ended(std::size_t l, std::size_t load) const {
  const OneLane& lane = lanes_[l];
  return usable(l, load) && lane.ends[lane.joined_of[load]]->done();
}

bool DeviceLoads::ended() const {
  for (std::size_t l = 0; l < lanes_.size(); ++l) {
    if (!ended(l, lanes_[l].joined_of.size() - 1)) return false;
  }
  return true;
}

void DeviceLoads::order_after(std::size_t l, std::size_t load) {
  OneLane& lane = lanes_[l];
  device_.wait(*lane.ends[lane.joined_of[load]], mpi::Queue::kWork);
}

void DeviceLoads::finish() {
  for (OneLane& lane : lanes_) device_.wait(*lane.ends.back(), mpi::Queue::kWork);
}

std::string DeviceLoads::progress_text(std::size_t l) const {
  return std::to_string(loaded(l)) + " of " + std::to_string(lanes_[l].joined_of.size()) +
         " loads queued on the device";
}

void DeviceLoads::read_clocks(const ClockMarks& marks, std::size_t origin, std::size_t first_mark,
                              double began_ms) {
  for (OneLane& lane : lanes_) {
    for (std::size_t j = 0; j < lane.joined.size(); ++j) {
      const JoinedLoads& joined = lane.joined[j];
      const std::size_t mark = first_mark + lane.first_mark + 2 * j;
      const double start_ms = began_ms + marks.ms(origin, mark);
      const double ms = marks.ms(mark, mark + 1);
      Bytes all = 0, done = 0;
      for (std::size_t i = joined.first; i < joined.end; ++i) all += lane.sizes[i];
      const auto at = [&](Bytes bytes) {
        return start_ms +
               (all > 0 ? ms * static_cast<double>(bytes) / static_cast<double>(all) : ms);
      };
      for (std::size_t i = joined.first; i < joined.end; ++i) {
        lane.clocks[i].start_ms = all > 0 ? at(done) : start_ms;
        done += lane.sizes[i];
        lane.clocks[i].end_ms = at(done);
      }
    }
  }
}

}  // namespace hios
