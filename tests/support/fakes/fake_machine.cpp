#include "support/fakes/fake_machine.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "hios/base/error.h"

namespace hios::test {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::size_t kQueued = 1024;  // work that a stream takes without an allocation

/// The regions of all machines: a device address is valid anywhere in the process, and only there.
struct AllRegions {
  std::mutex mutex;
  std::map<const std::byte*, std::weak_ptr<FakeRegion>, std::greater<>> by_address;
};
AllRegions& all_regions() {
  static AllRegions regions;
  return regions;
}

void execute(FakeEngine& engine, const FakeWork& work) {
  const std::size_t operation = engine.operations++;
  if (engine.options.failing == operation) {
    throw RunError("operation " + std::to_string(operation) + " failed as the test asked");
  }
  if (work.kind == FakeWork::Kind::kRun) {
    work.run();
  } else if (work.size_bytes > 0) {
    std::memmove(work.to, work.from, work.size_bytes);
    if (engine.options.copies_wrongly) work.to[work.size_bytes / 2] ^= std::byte{1};
  }
}

}  // namespace

FakeRegion::FakeRegion(Bytes size, bool device)
    : size_bytes(size),
      on_device(device),
      data(static_cast<std::byte*>(::operator new(size == 0 ? 1 : size, kAlignment))) {
  if (size > 0) std::memset(data, 0xff, size);
}

FakeRegion::~FakeRegion() {
  {
    AllRegions& all = all_regions();
    const std::lock_guard lock(all.mutex);
    all.by_address.erase(data);
  }
  ::operator delete(data, kAlignment);
}

std::shared_ptr<FakeRegion> make_fake_region(Bytes size, bool on_device) {
  auto region = std::make_shared<FakeRegion>(size, on_device);
  AllRegions& all = all_regions();
  const std::lock_guard lock(all.mutex);
  all.by_address[region->data] = region;
  return region;
}

std::shared_ptr<FakeRegion> FakeRegion::find(const std::byte* address) {
  std::shared_ptr<FakeRegion> region;  // outlives the lock, which its destructor takes
  AllRegions& all = all_regions();
  const std::lock_guard lock(all.mutex);
  // the last region that begins at or before it
  const auto at = all.by_address.lower_bound(address);
  if (at == all.by_address.end()) return nullptr;
  region = at->second.lock();
  // A region of no bytes has an address, too. The end is another allocation's beginning.
  const bool inside =
      region && address < region->data + std::max<std::size_t>(region->size_bytes, 1);
  return inside ? region : nullptr;
}

std::shared_ptr<FakeEngine> FakeMachine::add_engine(const FakeOptions& options) {
  engines_.push_back(std::make_shared<FakeEngine>(options));
  return engines_.back();
}

FakeStream* FakeMachine::add_stream(FakeEngine& engine) {
  engine.streams.push_back(std::make_unique<FakeStream>(FakeStream{&engine, {}}));
  engine.streams.back()->work.reserve(kQueued);
  return engine.streams.back().get();
}

void FakeMachine::queue(FakeEngine& engine, std::size_t stream, FakeWork work) {
  FakeStream& onto = *engine.streams.at(stream);
  if (onto.idle()) {
    onto.work.clear();
    onto.next = 0;
  } else if (onto.work.size() == onto.work.capacity()) {
    onto.work.erase(onto.work.begin(), onto.work.begin() + static_cast<std::ptrdiff_t>(onto.next));
    onto.next = 0;
  }
  if (work.kind == FakeWork::Kind::kRecord) {
    work.generation = ++work.point->recorded;
    work.point->stream = &onto;
  } else if (work.kind == FakeWork::Kind::kWait) {
    work.generation = work.point->recorded;
  }
  onto.work.push_back(std::move(work));
  if (engine.options.pace == FakeOptions::Pace::kEager) run_all_ready();
  if (engine.options.pace == FakeOptions::Pace::kRandom) run_some(engine);
}

bool FakeMachine::ready(const FakeStream& stream) {
  if (stream.idle()) return false;
  const FakeWork& work = stream.work[stream.next];
  return work.kind != FakeWork::Kind::kWait || work.point->ended >= work.generation;
}

/// Runs the stream's next work. REQUIRES: ready(stream).
void FakeMachine::run_next(FakeStream& stream) {
  FakeWork& work = stream.work[stream.next++];
  FakeEngine& engine = *stream.engine;
  switch (work.kind) {
    case FakeWork::Kind::kRecord:
      work.point->ended = std::max(work.point->ended, work.generation);
      break;
    case FakeWork::Kind::kWait:
      break;
    case FakeWork::Kind::kRun:
    case FakeWork::Kind::kCopy:
      try {
        if (engine.failure.empty()) execute(engine, work);
      } catch (const std::exception& error) {
        engine.failure = error.what();  // later work does nothing
      }
  }
  work = {};  // releases the references of the work
}

void FakeMachine::step_towards(const FakePoint& point) {
  const FakePoint* wanted = &point;
  while (wanted->ended < wanted->recorded) {
    FakeStream& stream = *wanted->stream;
    if (stream.idle()) return;
    if (ready(stream)) return run_next(stream);
    wanted = stream.work[stream.next].point.get();
  }
}

void FakeMachine::drain(FakeEngine& engine) {
  for (const auto& stream : engine.streams) {
    while (!stream->idle()) {
      if (ready(*stream)) {
        run_next(*stream);
      } else {
        step_towards(*stream->work[stream->next].point);
      }
    }
  }
}

void FakeMachine::discard(FakeEngine& engine) {
  if (engine.failure.empty()) engine.failure = "the device has gone";
  drain(engine);
}

void FakeMachine::run_some(FakeEngine& engine) {
  for (std::uint64_t left = engine.random.below(3); left > 0; --left) {
    const FakeEngine& lucky = *engines_[engine.random.below(engines_.size())];
    FakeStream& stream = *lucky.streams[engine.random.below(lucky.streams.size())];
    if (ready(stream)) run_next(stream);
  }
}

void FakeMachine::run_all_ready() {
  for (bool more = true; more;) {
    more = false;
    for (const auto& engine : engines_) {
      for (const auto& stream : engine->streams) {
        for (; ready(*stream); more = true) run_next(*stream);
      }
    }
  }
}

std::string FakeMachine::share(const std::shared_ptr<FakeRegion>& region) {
  for (const auto& [name, known] : regions_) {
    if (known.lock() == region) return name;
  }
  const std::string name = "memory-" + std::to_string(regions_.size());
  regions_[name] = region;
  return name;
}

std::string FakeMachine::share(const std::shared_ptr<FakePoint>& point) {
  const std::string name = "event-" + std::to_string(points_.size());
  points_[name] = point;
  return name;
}

std::shared_ptr<FakeRegion> FakeMachine::shared_region(const std::string& name) const {
  const auto at = regions_.find(name);
  return at == regions_.end() ? nullptr : at->second.lock();
}

std::shared_ptr<FakePoint> FakeMachine::shared_point(const std::string& name) const {
  const auto at = points_.find(name);
  return at == points_.end() ? nullptr : at->second.lock();
}

std::shared_ptr<FakeMachine> make_fake_machine() { return std::make_shared<FakeMachine>(); }

}  // namespace hios::test
