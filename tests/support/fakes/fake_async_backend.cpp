#include "support/fakes/fake_async_backend.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "hios/base/error.h"

namespace hios::test {

/// A queued or recorded action on one stream.
struct FakeAsyncBackend::Command {
  enum class Kind { kRun, kPoison, kFlush, kMark, kRecordEvent, kWaitEvent, kCall };
  Kind kind;
  FakeAccelerator::Stream stream = 0;
  BoundOperator* op = nullptr;
  mpi::DeviceEvent* event = nullptr;
  Bytes size_bytes = 0;             // bytes of a cache_flush, at the time when it was queued
  double* reading = nullptr;        // the reading of a mark
  std::function<void()> call = {};  // a call of the device
};

class FakeAsyncBackend::Replay final : public Recording {
 public:
  Replay(FakeAsyncBackend& owner, std::vector<Command> commands)
      : owner_(owner), commands_(std::move(commands)) {}
  void replay() override {
    ++owner_.replays;
    for (const Command& command : commands_) owner_.queue(command);
  }

 private:
  FakeAsyncBackend& owner_;
  std::vector<Command> commands_;
};

class FakeAsyncBackend::Marks final : public ClockMarks {
 public:
  Marks(FakeAsyncBackend& owner, std::size_t count) : owner_(owner), readings_(count, -1) {}
  void mark_in(mpi::Queue queue, std::size_t index) override {
    owner_.perform({.kind = Command::Kind::kMark,
                    .stream = FakeAccelerator::stream(queue),
                    .reading = &readings_.at(index)});
  }
  double ms(std::size_t from, std::size_t to) const override {
    if (readings_.at(from) < 0 || readings_.at(to) < 0) throw std::logic_error("never read");
    return readings_[to] - readings_[from];
  }

 private:
  FakeAsyncBackend& owner_;
  std::vector<double> readings_;
};

class FakeAsyncBackend::FakeCacheFlush final : public CacheFlush {
 public:
  explicit FakeCacheFlush(Bytes most) : most_(most) {}
  void set_size(Bytes size_bytes) override { size_bytes_ = std::min(size_bytes, most_); }
  void run() override { throw std::logic_error("run_stage queues cache flushes"); }
  Bytes size_bytes() const { return size_bytes_; }

 private:
  Bytes most_;
  Bytes size_bytes_ = 0;
};

namespace {

class DeviceBuffer final : public Buffer {
 public:
  DeviceBuffer(std::unique_ptr<mpi::DeviceMemory> memory, Bytes size_bytes)
      : memory_(std::move(memory)), size_(size_bytes) {}
  std::byte* data() override { return memory_->data(); }
  Bytes size_bytes() const override { return size_; }

 private:
  std::unique_ptr<mpi::DeviceMemory> memory_;
  Bytes size_;
};

}  // namespace

FakeAsyncBackend::FakeAsyncBackend(FakeAccelerator& device, bool records,
                                   std::optional<std::size_t> recordings_before_refusal)
    : FakeBackend(1, 0),
      device_(device),
      records_(records),
      recordings_before_refusal_(recordings_before_refusal),
      streams_{FakeAccelerator::stream(mpi::Queue::kWork)},
      forked_(device.make_event(/*shared=*/false)) {
  ended_.push_back(nullptr);  // the first core share is the one that the others join
}

FakeAsyncBackend::~FakeAsyncBackend() = default;

std::unique_ptr<Buffer> FakeAsyncBackend::allocate(Bytes size_bytes, std::string_view what) {
  auto memory = device_.make_memory(size_bytes, std::string(what));
  if (what.starts_with("the tensors")) tensors_.emplace_back(memory->data(), size_bytes);
  return std::make_unique<DeviceBuffer>(std::move(memory), size_bytes);
}

std::unique_ptr<BoundOperator> FakeAsyncBackend::bind(const Operation& operation,
                                                      std::span<const std::byte* const> inputs,
                                                      std::byte* output, const CoreShare& share,
                                                      TensorSource& source) {
  while (streams_.size() <= share.stream.index()) {
    streams_.push_back(device_.make_stream());
    ended_.push_back(device_.make_event(/*shared=*/false));
  }
  return FakeBackend::bind(operation, inputs, output, share, source);
}

void FakeAsyncBackend::queue(const Command& command) {
  switch (command.kind) {
    case Command::Kind::kRecordEvent:
      device_.record(*command.event, command.stream);
      break;
    case Command::Kind::kWaitEvent:
      device_.wait(*command.event, command.stream);
      break;
    case Command::Kind::kCall:
      command.call();
      break;
    case Command::Kind::kPoison:
      device_.enqueue(command.stream, [op = command.op] { poison_output(op); });
      break;
    case Command::Kind::kRun:
      device_.enqueue(command.stream, [this, op = command.op] {
        op->run();
        if (records_) warm_.insert(op);
        clock_ms_ += 1;
      });
      break;
    case Command::Kind::kFlush:
      device_.enqueue(command.stream, [this, size_bytes = command.size_bytes] {
        flushed_bytes.push_back(size_bytes);
        clock_ms_ += static_cast<double>(size_bytes);
      });
      break;
    case Command::Kind::kMark:
      device_.enqueue(command.stream, [this, reading = command.reading] {
        *reading = clock_ms_;
        clock_ms_ += mark_ms;
      });
      break;
  }
}

void FakeAsyncBackend::perform(const Command& command) {
  if (recording_) {
    recording_->push_back(command);
  } else {
    queue(command);
  }
}

void FakeAsyncBackend::run_stage(std::span<const BoundGroup> groups,
                                 std::span<const CoreShare> shares, void (*poll)(void*), void*) {
  using Kind = Command::Kind;
  if (groups.size() != shares.size()) throw std::logic_error("a core share for each group");
  if (poll) throw std::logic_error("an asynchronous device polls nothing");
  if (!recording_) ++queued_stages;
  const FakeAccelerator::Stream work = streams_.front();
  const bool one_group = groups.size() == 1;
  for (const BoundGroup& group : groups) {
    if (one_group) break;
    for (BoundOperator* op : group) perform({.kind = Kind::kPoison, .stream = work, .op = op});
  }
  perform({.kind = Kind::kRecordEvent, .stream = work, .event = forked_.get()});
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t share = shares[g].stream.index();
    const FakeAccelerator::Stream stream = streams_.at(share);
    if (share > 0) perform({.kind = Kind::kWaitEvent, .stream = stream, .event = forked_.get()});
    for (BoundOperator* op : groups[g]) {
      if (one_group) perform({.kind = Kind::kPoison, .stream = stream, .op = op});
      if (const auto* cache_flush = dynamic_cast<FakeCacheFlush*>(op)) {
        perform({.kind = Kind::kFlush, .stream = stream, .size_bytes = cache_flush->size_bytes()});
      } else {
        perform({.kind = Kind::kRun, .stream = stream, .op = op});
      }
    }
    if (share > 0)
      perform({.kind = Kind::kRecordEvent, .stream = stream, .event = ended_[share].get()});
  }
  for (const CoreShare& share : shares) {
    const std::size_t index = share.stream.index();
    if (index > 0)
      perform({.kind = Kind::kWaitEvent, .stream = work, .event = ended_[index].get()});
  }
}

void FakeAsyncBackend::write(std::byte* to, const void* from_host, Bytes size_bytes) {
  device_.write(to, static_cast<const std::byte*>(from_host), size_bytes);
}

void FakeAsyncBackend::read(void* to_host, const std::byte* from, Bytes size_bytes) {
  device_.read(static_cast<std::byte*>(to_host), from, size_bytes);
}

std::unique_ptr<CacheFlush> FakeAsyncBackend::bind_cache_flush(std::span<const std::byte> stretch,
                                                               const CoreShare&) {
  return std::make_unique<FakeCacheFlush>(stretch.size());
}

std::unique_ptr<Recording> FakeAsyncBackend::make_recording(
    const std::function<void()>& queue_all) {
  std::vector<Command> commands;
  recording_ = &commands;
  device_.begin_capture([&](std::function<void()> call) {
    commands.push_back({.kind = Command::Kind::kCall, .call = std::move(call)});
  });
  try {
    queue_all();
  } catch (...) {
    recording_ = nullptr;
    device_.abandon_capture();
    throw;
  }
  recording_ = nullptr;
  device_.end_capture();
  for (const Command& command : commands) {
    if (command.kind == Command::Kind::kRun && !warm_.contains(command.op)) {
      throw mpi::DeviceError("an operator allocated while it was recorded: it had never run");
    }
  }
  if (recordings_before_refusal_ == recordings) {
    if (refuses_for_memory) throw mpi::DeviceMemoryError("no memory for a recording");
    throw mpi::DeviceError("the test switched recording off");
  }
  ++recordings;
  return std::make_unique<Replay>(*this, std::move(commands));
}

FakeParameters::Block FakeAsyncBackend::allocate_parameters(Bytes size_bytes, bool in_place) {
  const std::shared_ptr<mpi::DeviceMemory> memory =
      in_place ? device_.make_pinned(size_bytes, "parameters")
               : device_.make_memory(size_bytes, "parameters");
  return {memory, memory->data()};
}

std::unique_ptr<ClockMarks> FakeAsyncBackend::make_marks(std::size_t count) {
  return std::make_unique<Marks>(*this, count);
}

}  // namespace hios::test
