#include "support/fakes/fake_accelerator.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "hios/base/error.h"
#include "support/fakes/fake_machine.h"

namespace hios::test {
namespace {

/// Memory that its device reaches during the lifetime of this object.
class Held final : public mpi::DeviceMemory {
 public:
  Held(std::shared_ptr<FakeMachine> machine, std::shared_ptr<FakeEngine> engine,
       std::shared_ptr<FakeRegion> region, Bytes offset, Bytes used, bool borrowed = false)
      : machine_(std::move(machine)),
        engine_(std::move(engine)),
        region_(std::move(region)),
        offset_(offset),
        used_(used),
        borrowed_(borrowed) {}
  ~Held() override {
    const auto lock = machine_->lock();
    engine_->used_bytes -= used_;
    if (borrowed_) {
      --region_->borrowers;
    } else if (region_->borrowers > 0) {
      ++machine_->withdrawn;
    }
    auto& reachable = engine_->reachable;
    reachable.erase(std::find(reachable.begin(), reachable.end(), region_));
  }
  std::byte* data() override { return region_->data + offset_; }

 private:
  std::shared_ptr<FakeMachine> machine_;
  std::shared_ptr<FakeEngine> engine_;
  std::shared_ptr<FakeRegion> region_;
  Bytes offset_, used_;
  bool borrowed_;
};

class FakeEvent final : public mpi::DeviceEvent {
 public:
  FakeEvent(std::shared_ptr<FakeMachine> owning_machine, std::shared_ptr<FakeEngine> owning_engine,
            std::shared_ptr<FakePoint> the_point, bool is_shared, bool is_imported)
      : machine(std::move(owning_machine)),
        engine(std::move(owning_engine)),
        point(std::move(the_point)),
        shared(is_shared),
        imported(is_imported) {}

  ~FakeEvent() override {
    const auto lock = machine->lock();
    if (imported) {
      --point->borrowers;
    } else if (point->borrowers > 0) {
      ++machine->withdrawn;
    }
  }

  bool done() override {
    if (captured) throw mpi::DeviceError("asked for an event of a recording");
    const auto lock = machine->lock();
    const bool patient = engine->options.pace == FakeOptions::Pace::kRandom &&
                         engine->random.below(3) == 0;  // busy with other work
    if (!patient) machine->step_towards(*point);
    if (!engine->failure.empty()) throw mpi::DeviceError(engine->failure);
    return point->ended == point->recorded;
  }

  const std::shared_ptr<FakeMachine> machine;
  const std::shared_ptr<FakeEngine> engine;
  const std::shared_ptr<FakePoint> point;
  const bool shared, imported;
  std::size_t captured = 0;  ///< the capture in which it was last recorded; 0: in none
  FakeAccelerator::Stream captured_on = 0;
  std::size_t captured_work = 0;  ///< the stream's work before it
};

/// Returns the region that holds the whole range, if the device reaches it.
std::shared_ptr<FakeRegion> reached(const FakeEngine& engine, const std::byte* address,
                                    Bytes size_bytes) {
  std::shared_ptr<FakeRegion> region = FakeRegion::find(address);
  const auto& reachable = engine.reachable;
  if (!region || address + size_bytes > region->data + region->size_bytes ||
      std::find(reachable.begin(), reachable.end(), region) == reachable.end()) {
    throw RunError("illegal address: neither memory of " + engine.options.identity +
                   " nor pinned nor mapped");
  }
  return region;
}

/// Throws if the host must not touch device memory now.
void require_quiet(const FakeEngine& engine) {
  if (!engine.failure.empty()) throw mpi::DeviceError(engine.failure);
  for (const auto& stream : engine.streams) {
    if (!stream->idle()) {
      throw std::logic_error("the host touches device memory while work is queued: synchronize()");
    }
  }
}

}  // namespace

FakeAccelerator::FakeAccelerator(const FakeOptions& options)
    : FakeAccelerator(make_fake_machine(), options) {}

FakeAccelerator::FakeAccelerator(std::shared_ptr<FakeMachine> machine, const FakeOptions& options)
    : machine_(std::move(machine)) {
  const auto lock = machine_->lock();
  engine_ = machine_->add_engine(options);
  machine_->add_stream(*engine_);  // Queue::kWork
  machine_->add_stream(*engine_);  // Queue::kOut
}

/// Work that is captured.
struct FakeAccelerator::Capture {
  std::function<void(std::function<void()>)> take;
  std::map<Stream, std::size_t> work;    ///< of the streams that take part
  std::map<Stream, std::size_t> joined;  ///< the work that kWork waits for
};

void FakeAccelerator::begin_capture(std::function<void(std::function<void()>)> take) {
  ++captures_;
  capture_ = std::make_unique<Capture>(Capture{std::move(take), {}, {}});
  capture_->work[stream(mpi::Queue::kWork)] = 0;
}

void FakeAccelerator::abandon_capture() { capture_.reset(); }

void FakeAccelerator::end_capture() {
  const std::unique_ptr<Capture> ended = std::move(capture_);
  for (const auto& [stream, work] : ended->work) {
    if (stream == FakeAccelerator::stream(mpi::Queue::kWork)) continue;
    if (ended->joined[stream] < work) {
      throw mpi::DeviceError("a queue does not join the recording in the end");
    }
  }
}

void FakeAccelerator::capture_work(mpi::Queue queue, std::function<void()> call) {
  const auto found = capture_->work.find(stream(queue));
  if (found == capture_->work.end()) {
    throw mpi::DeviceError("work on a queue that is no part of the recording");
  }
  ++found->second;
  capture_->take(std::move(call));
}

void FakeAccelerator::record(mpi::DeviceEvent& event, mpi::Queue queue) {
  auto& fake = dynamic_cast<FakeEvent&>(event);
  fake.captured = 0;
  if (!capture_) return record(event, stream(queue));
  capture_work(queue, [this, &event, queue] { record(event, stream(queue)); });
  fake.captured = captures_;
  fake.captured_on = stream(queue);
  fake.captured_work = capture_->work[stream(queue)];
}

void FakeAccelerator::wait(mpi::DeviceEvent& event, mpi::Queue queue) {
  const auto& fake = dynamic_cast<FakeEvent&>(event);
  if (!capture_) {
    if (fake.captured > 0) throw mpi::DeviceError("a wait for an event of a recording");
    return wait(event, stream(queue));
  }
  if (fake.captured != captures_) {
    throw mpi::DeviceError("a recording waits for an event that is no part of it");
  }
  capture_->work.try_emplace(stream(queue), 0);
  if (queue == mpi::Queue::kWork) {
    std::size_t& joined = capture_->joined[fake.captured_on];
    joined = std::max(joined, fake.captured_work);
  }
  capture_->take([this, &event, queue] { wait(event, stream(queue)); });
}

mpi::Queue FakeAccelerator::load_queue(std::size_t lane) {
  const auto known = load_queues_.find(lane);
  if (known != load_queues_.end()) return known->second;
  return load_queues_[lane] = static_cast<mpi::Queue>(make_stream());
}

mpi::Queue FakeAccelerator::in_queue(Rank peer) {
  const auto known = in_queues_.find(peer.index());
  if (known != in_queues_.end()) return known->second;
  return in_queues_[peer.index()] = static_cast<mpi::Queue>(make_stream());
}

FakeAccelerator::~FakeAccelerator() { abandon(); }

void FakeAccelerator::abandon() {
  const auto lock = machine_->lock();
  machine_->discard(*engine_);
}

const std::string& FakeAccelerator::identity() const { return engine_->options.identity; }

std::optional<Bytes> FakeAccelerator::free_bytes() const {
  const auto lock = machine_->lock();
  const Bytes limit = engine_->options.memory_bytes;
  if (limit == 0) return std::nullopt;
  return limit - engine_->used_bytes;
}

bool FakeAccelerator::owns(const std::byte* address) {
  const std::shared_ptr<FakeRegion> region = FakeRegion::find(address);
  return region && region->on_device;
}

FakeAccelerator::Stream FakeAccelerator::make_stream() {
  const auto lock = machine_->lock();
  machine_->add_stream(*engine_);
  return engine_->streams.size() - 1;
}

void FakeAccelerator::enqueue(Stream stream, std::function<void()> work) {
  const auto lock = machine_->lock();
  machine_->queue(*engine_, stream, {FakeWork::Kind::kRun, std::move(work)});
}

void FakeAccelerator::record(mpi::DeviceEvent& event, Stream stream) {
  auto& fake = dynamic_cast<FakeEvent&>(event);
  if (fake.imported) throw std::logic_error("a peer's event is not ours to record");
  const auto lock = machine_->lock();
  FakeWork work{FakeWork::Kind::kRecord};
  work.point = fake.point;
  machine_->queue(*engine_, stream, std::move(work));
}

void FakeAccelerator::wait(mpi::DeviceEvent& event, Stream stream) {
  const auto lock = machine_->lock();
  FakeWork work{FakeWork::Kind::kWait};
  work.point = dynamic_cast<FakeEvent&>(event).point;
  machine_->queue(*engine_, stream, std::move(work));
}

void FakeAccelerator::copy(std::byte* to, const std::byte* from, Bytes size_bytes,
                           mpi::Queue queue) {
  if (capture_) {
    return capture_work(queue, [=, this] { copy(to, from, size_bytes, queue); });
  }
  ++copies_;
  const auto lock = machine_->lock();
  FakeWork work{FakeWork::Kind::kCopy};
  work.to = to;
  work.from = from;
  work.size_bytes = size_bytes;
  work.kept = {reached(*engine_, to, size_bytes), reached(*engine_, from, size_bytes)};
  machine_->queue(*engine_, stream(queue), std::move(work));
}

void FakeAccelerator::fill(std::byte* to, std::byte value, Bytes size_bytes, mpi::Queue queue) {
  if (capture_) {
    return capture_work(queue, [=, this] { fill(to, value, size_bytes, queue); });
  }
  const auto lock = machine_->lock();
  FakeWork work{FakeWork::Kind::kRun};
  work.run = [=] { std::fill_n(to, size_bytes, value); };
  work.kept = {reached(*engine_, to, size_bytes), nullptr};
  machine_->queue(*engine_, stream(queue), std::move(work));
}

std::unique_ptr<mpi::DeviceMemory> FakeAccelerator::make_pinned(Bytes size_bytes,
                                                                const std::string& what) {
  const auto lock = machine_->lock();
  const Bytes limit = engine_->options.pinned_bytes;
  if (limit > 0 && size_bytes > limit) {
    throw RunError("no pinned memory for " + what + ": " + std::to_string(size_bytes) + " bytes");
  }
  const auto region = make_fake_region(size_bytes, /*on_device=*/false);
  engine_->reachable.push_back(region);
  return std::make_unique<Held>(machine_, engine_, region, 0, 0);
}

std::unique_ptr<mpi::DeviceMemory> FakeAccelerator::make_memory(Bytes size_bytes,
                                                                const std::string& what) {
  const auto lock = machine_->lock();
  const Bytes limit = engine_->options.memory_bytes;
  if (limit > 0 && size_bytes > limit - engine_->used_bytes) {
    throw RunError("out of memory on " + identity() + ": " + std::to_string(size_bytes) +
                   " bytes for " + what + ", " + std::to_string(limit - engine_->used_bytes) +
                   " are free");
  }
  const auto region = make_fake_region(size_bytes, /*on_device=*/true);
  engine_->reachable.push_back(region);
  engine_->used_bytes += size_bytes;
  return std::make_unique<Held>(machine_, engine_, region, 0, size_bytes);
}

std::unique_ptr<mpi::DeviceEvent> FakeAccelerator::make_event(bool shared) {
  shared_events_ += shared ? 1 : 0;
  return std::make_unique<FakeEvent>(machine_, engine_, std::make_shared<FakePoint>(), shared,
                                     /*imported=*/false);
}

std::string FakeAccelerator::export_memory(const std::byte* address) {
  const auto lock = machine_->lock();
  if (!engine_->options.exports) throw RunError(identity() + " cannot share memory");
  const auto region = reached(*engine_, address, 0);
  return machine_->share(region) + " " + std::to_string(address - region->data);
}

std::string FakeAccelerator::export_event(mpi::DeviceEvent& event) {
  const auto& fake = dynamic_cast<FakeEvent&>(event);
  const auto lock = machine_->lock();
  if (!engine_->options.exports || !fake.shared) throw RunError(identity() + " cannot share this");
  return machine_->share(fake.point);
}

std::unique_ptr<mpi::DeviceMemory> FakeAccelerator::import_memory(const std::string& exported) {
  const auto lock = machine_->lock();
  const std::size_t space = exported.find(' ');
  const auto region = machine_->shared_region(exported.substr(0, space));
  if (!engine_->options.imports || !region) {
    throw RunError(identity() + " has no peer access to what was exported");
  }
  engine_->reachable.push_back(region);
  ++region->borrowers;
  return std::make_unique<Held>(machine_, engine_, region, std::stoull(exported.substr(space + 1)),
                                0, /*borrowed=*/true);
}

std::unique_ptr<mpi::DeviceEvent> FakeAccelerator::import_event(const std::string& exported) {
  const auto lock = machine_->lock();
  const auto point = machine_->shared_point(exported);
  if (!point) throw RunError(identity() + " knows no such event: " + exported);
  ++point->borrowers;
  return std::make_unique<FakeEvent>(machine_, engine_, point, /*shared=*/false,
                                     /*imported=*/true);
}

void FakeAccelerator::synchronize() {
  ++synchronizations_;
  const auto lock = machine_->lock();
  machine_->drain(*engine_);
  if (!engine_->failure.empty()) throw mpi::DeviceError(engine_->failure);
}

void FakeAccelerator::write(std::byte* to, const std::byte* from_host, Bytes size_bytes) {
  const auto lock = machine_->lock();
  require_quiet(*engine_);
  const auto region = reached(*engine_, to, size_bytes);
  if (size_bytes > 0) std::memcpy(to, from_host, size_bytes);
}

void FakeAccelerator::read(std::byte* to_host, const std::byte* from, Bytes size_bytes) {
  const auto lock = machine_->lock();
  require_quiet(*engine_);
  const auto region = reached(*engine_, from, size_bytes);
  if (size_bytes > 0) std::memcpy(to_host, from, size_bytes);
}

}  // namespace hios::test
