#include "hios/flight/recorder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>
#include <tuple>
#include <utility>

#include "hios/base/error.h"
#include "hios/flight/descriptors.h"
#include "hios/flight/memory.h"

namespace hios::flight {
namespace {

constexpr int kKindShift = 56, kStampShift = 24;

std::uint64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t word_of(EventKind kind, std::uint32_t stamp, std::uint32_t subject) noexcept {
  return (static_cast<std::uint64_t>(kind) << kKindShift) |
         (static_cast<std::uint64_t>(stamp) << kStampShift) | subject;
}

void* map(int descriptor, int protection) {
  const int flags = descriptor < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
  void* const address =
      mmap(nullptr, sizeof(Memory), protection, flags, descriptor < 0 ? -1 : descriptor, 0);
  return address == MAP_FAILED ? nullptr : address;
}

/// Returns a text that another process wrote and that may hold anything.
std::string text_at(const Memory& memory, std::uint32_t from, std::uint32_t size) {
  if (from > Memory::kTextBytes || size > Memory::kTextBytes - from) return {};
  return printable(std::string_view(memory.texts + from, size), 4096);
}

std::optional<std::size_t> number(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(value));
}

std::string phase_text(const Memory& memory, std::uint64_t number) {
  const std::uint64_t phases = memory.phases;
  if (number >= phases || phases - number > Memory::kPhases) return {};
  return printable(memory.phase[number % Memory::kPhases].get(), 64);
}

void describe(const Memory& memory, std::uint64_t what, Event& event) {
  const auto index = static_cast<std::uint32_t>(what & Recorder::Subjects::kNone);
  const auto stamp = static_cast<std::uint32_t>(what >> kStampShift);
  event.kind = static_cast<EventKind>(what >> kKindShift);
  if (event.kind == EventKind::kPhase)
    event.text = phase_text(memory, std::exchange(event.iteration, 0));
  if (index >= Memory::kSubjects) return;
  const SubjectSlot& subject = memory.subject[index];
  if (subject.stamp != stamp) {
    event.text = "a step of an earlier plan";
    return;
  }
  event.text = text_at(memory, subject.text, subject.text_size);
  event.op = text_at(memory, subject.op, subject.op_size);
  event.peer = number(subject.peer);
  event.stage = number(subject.stage);
  event.bytes = subject.bytes;
}

}  // namespace

std::uint64_t monotonic_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }

Recorder::Recorder() {
  descriptor_ = above_standard(memfd_create("flight-record", MFD_CLOEXEC));
  if (descriptor_ >= 0 && ftruncate(descriptor_, sizeof(Memory)) != 0) {
    ::close(std::exchange(descriptor_, -1));
  }
  void* const address = map(descriptor_, PROT_READ | PROT_WRITE);
  if (!address) return;
  memory_ = new (address) Memory;  // the system has filled it with zeros
  memory_->magic = Memory::kMagic;
  memory_->rank = memory_->ranks = -1;
  memory_->process = getpid();
  memory_->started_ns = static_cast<std::int64_t>(clock_ns(CLOCK_REALTIME));
  memory_->epoch_ns = memory_->started_ns - static_cast<std::int64_t>(monotonic_ns());
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  memory_->host.set(host);
  enabled_ = true;
}

Recorder::~Recorder() {
  if (memory_) munmap(memory_, sizeof(Memory));
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Recorder::set_program(std::string_view name) {
  if (memory_) memory_->program.set(name);
}

void Recorder::set_rank(std::size_t rank, std::optional<std::size_t> ranks) {
  if (!memory_) return;
  memory_->rank = static_cast<std::int64_t>(rank);
  memory_->ranks = ranks ? static_cast<std::int64_t>(*ranks) : -1;
}

void Recorder::set_job(std::string_view job) {
  if (memory_) memory_->job.set(job);
}

void Recorder::set_folder(const std::string& folder) {
  if (!memory_) return;
  std::error_code error;
  const auto absolute = std::filesystem::absolute(folder, error);
  memory_->folder.set(folder.empty() ? "" : error ? folder : absolute.string());
}

void Recorder::set_own_folder(const std::string& folder, std::string_view remedy) {
  if (!memory_) return;
  set_folder(folder);
  memory_->own_folder = true;
  memory_->remedy.set(remedy);
}

void Recorder::phase(std::string_view what) {
  if (!memory_) return;
  const std::uint64_t number = memory_->phases;
  memory_->phase[number % Memory::kPhases].set(what);
  memory_->phases = number + 1;
  note(EventKind::kPhase, Subjects::kNone, number);
}

void Recorder::store(EventKind kind, std::uint32_t subject, std::uint64_t iteration) noexcept {
  Memory& memory = *memory_;
  const bool known = subject < Memory::kSubjects;
  const EventRing::Claim claim = memory.ring.claim();
  memory.ring.finish(claim, {.time_ns = monotonic_ns(),
                             .iteration = iteration,
                             .what = word_of(kind, known ? memory.subject[subject].stamp : 0,
                                             known ? subject : Subjects::kNone)});
}

std::int64_t Recorder::started_ns() const { return memory_ ? memory_->started_ns : 0; }

Flight Recorder::read() const { return memory_ ? flight::read(*memory_) : Flight{}; }

Recorder::Subjects::Subjects(Recorder* recorder, std::span<const Subject> subjects)
    : recorder_(recorder && recorder->memory_ ? recorder : nullptr) {
  if (!recorder_) return;
  Memory& memory = *recorder_->memory_;
  ++recorder_->sets_;
  first_ = memory.subjects;
  begin_text_ = memory.texts_end;
  const auto keep = [&](std::string_view text) {
    const std::size_t size = std::min(text.size(), Memory::kTextBytes - memory.texts_end);
    std::memcpy(memory.texts + memory.texts_end, text.data(), size);
    const std::uint32_t begin = memory.texts_end;
    memory.texts_end += static_cast<std::uint32_t>(size);
    return std::pair(begin, static_cast<std::uint32_t>(size));
  };
  for (const Subject& subject : subjects) {
    if (memory.subjects == Memory::kSubjects) break;
    SubjectSlot& slot = memory.subject[memory.subjects];
    std::tie(slot.text, slot.text_size) = keep(subject.text);
    std::tie(slot.op, slot.op_size) = keep(subject.op);
    slot.peer = subject.peer ? static_cast<std::int32_t>(*subject.peer) : -1;
    slot.stage = subject.stage ? static_cast<std::int32_t>(*subject.stage) : -1;
    slot.bytes = subject.bytes;
    slot.stamp = ++memory.stamps;
    ++memory.subjects;
  }
  count_ = memory.subjects - first_;
}

Recorder::Subjects::~Subjects() {
  if (!recorder_) return;
  Memory& memory = *recorder_->memory_;
  const bool last = --recorder_->sets_ == 0;
  if (memory.subjects == first_ + count_ || last) {
    memory.subjects = last ? 0 : first_;
    memory.texts_end = last ? 0 : begin_text_;
  }
}

Recorder::Subjects::Subjects(Subjects&& other) noexcept { *this = std::move(other); }

Recorder::Subjects& Recorder::Subjects::operator=(Subjects&& other) noexcept {
  std::swap(recorder_, other.recorder_);
  std::swap(first_, other.first_);
  std::swap(begin_text_, other.begin_text_);
  std::swap(count_, other.count_);
  return *this;
}

Flight read(const Memory& memory) {
  Flight flight;
  flight.program = printable(memory.program.get());
  flight.job = printable(memory.job.get());
  flight.rank = number(memory.rank);
  flight.ranks = number(memory.ranks);
  flight.host = printable(memory.host.get(), 255);
  flight.process = memory.process;
  flight.ending = static_cast<Ending>(memory.ending.load());
  flight.reason = printable(memory.reason.get(), 1024);
  if (const std::uint64_t phases = memory.phases) flight.phase = phase_text(memory, phases - 1);
  const std::uint64_t now = monotonic_ns();
  flight.written_s = static_cast<double>(static_cast<std::int64_t>(now) + memory.epoch_ns) / 1e9;
  for (const EventWords& words : memory.ring.last()) {
    Event event;
    event.iteration = words.iteration;
    event.age_ms = static_cast<double>(static_cast<std::int64_t>(now - words.time_ns)) / 1e6;
    describe(memory, words.what, event);
    flight.events.push_back(std::move(event));
  }
  return flight;
}

std::unique_ptr<PeerRecord> PeerRecord::open(std::int64_t process, int descriptor) {
  if (descriptor < 0) return nullptr;
  const std::string name = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return nullptr;
  const bool whole = lseek(file, 0, SEEK_END) == static_cast<off_t>(sizeof(Memory));
  void* const address = whole ? map(file, PROT_READ) : nullptr;
  ::close(file);
  if (!address) return nullptr;
  auto* const memory = static_cast<Memory*>(address);
  // In other process namespaces, the number may be that of any other process.
  if (memory->magic != Memory::kMagic || memory->process != process) {
    munmap(address, sizeof(Memory));
    return nullptr;
  }
  return std::unique_ptr<PeerRecord>(new PeerRecord(process, memory));
}

PeerRecord::~PeerRecord() { munmap(memory_, sizeof(Memory)); }

Flight PeerRecord::read() const { return flight::read(*memory_); }

std::string PeerRecord::failure() const {
  // The state is the letter after the name, which is in brackets and may hold anything.
  char text[512] = {};
  const int file =
      ::open(("/proc/" + std::to_string(process_) + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "has died";
  const ssize_t size = ::read(file, text, sizeof text - 1);
  ::close(file);
  if (size <= 0) return {};
  const char* const bracket = std::strrchr(text, ')');
  const char state = bracket && bracket[1] != '\0' ? bracket[2] : '?';
  if (state == 'T' || state == 't') return "is stopped";
  if (state == 'Z' || state == 'X') return "has died";
  return {};
}

}  // namespace hios::flight
