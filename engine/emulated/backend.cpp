#include "engine/emulated/backend.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/numbers/half.h"

namespace hios::emulated {
namespace {

constexpr std::size_t kAlignment = 64;
static_assert(kParameterBytes >= kAlignment);

class AlignedBuffer final : public Buffer {
 public:
  AlignedBuffer(Bytes size_bytes, std::string_view what) : size_bytes_(size_bytes) {
    try {
      data_ = static_cast<std::byte*>(::operator new(size_bytes, std::align_val_t(kAlignment)));
    } catch (const std::bad_alloc&) {
      throw RunError("emulated backend: no memory for " + std::string(what) + " (" +
                     std::to_string(size_bytes) + " bytes)");
    }
  }
  ~AlignedBuffer() override { ::operator delete(data_, std::align_val_t(kAlignment)); }
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;

  std::byte* data() override { return data_; }
  Bytes size_bytes() const override { return size_bytes_; }

 private:
  std::byte* data_ = nullptr;
  Bytes size_bytes_;
};

/// A 64-bit digest (FNV-1a), and numbers that follow from it.
class Mixer {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      state_ = (state_ ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3ull;
    }
    state_ = (state_ ^ bytes.size()) * 0x100000001b3ull;
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text.data(), text.size()))); }
  /// Returns the next number (splitmix64).
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15ull;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    return mixed ^ (mixed >> 31);
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ull;
};

/// The poll of the stage that runs now.
struct Polled {
  void (*poll)(void*) = nullptr;
  void* argument = nullptr;
};

/// Sets the poll while it lives: later runs of an operator have none.
class PolledInStage {
 public:
  PolledInStage(Polled& polled, Polled of_stage) : polled_(polled) { polled_ = of_stage; }
  ~PolledInStage() { polled_ = {}; }
  PolledInStage(const PolledInStage&) = delete;
  PolledInStage& operator=(const PolledInStage&) = delete;

 private:
  Polled& polled_;
};

class EmulatedOperator final : public BoundOperator {
 public:
  struct Parts {
    OpId op;
    std::string name;
    std::vector<std::span<const std::byte>> inputs;
    std::shared_ptr<AlignedBuffer> parameters;  ///< null: it has none
    std::byte* output = nullptr;
  };

  EmulatedOperator(Parts parts, Emulation& emulation, const Polled& polled, Precision precision)
      : parts_(std::move(parts)),
        emulation_(emulation),
        polled_(polled),
        halves_(precision == Precision::kFp16) {}

  // Parameters are read at the start, as a kernel would: what comes later is too late.
  void run() override {
    Mixer mixer;
    mixer.add(parts_.name);
    for (const auto& input : parts_.inputs) mixer.add(input);
    if (parts_.parameters) mixer.add(std::span(parts_.parameters->data(), kParameterBytes));
    if (const auto read = emulation_.read_in_place(parts_.op)) {
      emulation_.run_flow(*read, polled_.poll, polled_.argument);
    } else {
      emulation_.sleep(emulation_.operator_ms(parts_.op), polled_.poll, polled_.argument);
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(kDigestValues); ++i) {
      const auto value = static_cast<float>(mixer.next() % (kLargestDigestValue + 1));
      if (halves_) {
        const Half half = to_half(value);
        std::memcpy(parts_.output + i * sizeof half, &half, sizeof half);
      } else {
        std::memcpy(parts_.output + i * sizeof value, &value, sizeof value);
      }
    }
  }

 private:
  const Parts parts_;
  Emulation& emulation_;
  const Polled& polled_;
  const bool halves_;
};

class EmulatedBackend final : public Backend {
 public:
  EmulatedBackend(Emulation* emulation, Precision precision)
      : emulation_(emulation), precision_(precision) {}

  std::string_view name() const override { return "emulated"; }
  std::string_view kind() const override { return "emulated"; }
  int threads() const override { return 1; }
  Precision precision() const override { return precision_; }
  Json describe() const override { return {{"library", "emulated"}}; }

  std::optional<std::string> unsupported(const Operation& operation) const override {
    if (emulation_ && emulation_->graph().find(operation.name)) return {};
    return "no graph has its time";
  }

  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return std::make_unique<AlignedBuffer>(size_bytes, what);
  }

  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare&, TensorSource& source) override;

  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare>,
                 void (*poll)(void*), void* poll_argument) override {
    const PolledInStage polled(polled_, {poll, poll_argument});
    for (const BoundGroup& group : groups) {
      for (BoundOperator* const op : group) op->run();
    }
  }

  bool shows_parameters() const override { return true; }
  std::vector<std::span<std::byte>> parameter_memory(const Operation& operation,
                                                     const TensorSource& source) override;

 private:
  using Key = std::pair<const TensorSource*, std::string>;

  OpId op_of(const Operation& operation) const {
    return emulation_->graph().find(operation.name).value();
  }
  /// Returns the name of an operator's parameters, by which others share them.
  std::string parameters_of(OpId op) const {
    const Operator& described = emulation_->graph().op(op);
    return described.parameters.empty() ? "operator " + described.name
                                        : "label " + described.parameters;
  }

  Emulation* const emulation_;
  const Precision precision_;
  Polled polled_;
  std::map<Key, std::weak_ptr<AlignedBuffer>> parameters_;
};

std::unique_ptr<BoundOperator> EmulatedBackend::bind(const Operation& operation,
                                                     std::span<const std::byte* const> inputs,
                                                     std::byte* output, const CoreShare&,
                                                     TensorSource& source) {
  const OpId op = op_of(operation);
  EmulatedOperator::Parts parts{op, operation.name, {}, nullptr, output};
  const Bytes size_bytes = static_cast<Bytes>(kDigestValues) * element_bytes();
  for (const std::byte* const input : inputs) parts.inputs.emplace_back(input, size_bytes);
  if (emulation_->graph().op(op).parameter_bytes > 0) {
    const std::string name = parameters_of(op);
    std::weak_ptr<AlignedBuffer>& known = parameters_[{&source, name}];
    parts.parameters = known.lock();
    if (!parts.parameters) {
      known = parts.parameters = std::make_shared<AlignedBuffer>(kParameterBytes, name);
      Mixer mixer;
      mixer.add(name);
      for (std::size_t at = 0; at < kParameterBytes; at += sizeof(std::uint64_t)) {
        const std::uint64_t number = mixer.next();
        std::memcpy(parts.parameters->data() + at, &number, sizeof number);
      }
    }
  }
  return std::make_unique<EmulatedOperator>(std::move(parts), *emulation_, polled_, precision_);
}

std::vector<std::span<std::byte>> EmulatedBackend::parameter_memory(const Operation& operation,
                                                                    const TensorSource& source) {
  const auto found = parameters_.find({&source, parameters_of(op_of(operation))});
  if (found == parameters_.end()) return {};
  const auto buffer = found->second.lock();
  if (!buffer) return {};
  return {std::span(buffer->data(), kParameterBytes)};
}

std::unique_ptr<Backend> make_without_graph(const BackendOptions& options) {
  return make_backend(nullptr, options.precision);
}

constexpr std::array kTable = {BackendEntry{
    "emulated", "operators that sleep, and buses that flows share, in place of another machine",
    "emulated", &make_without_graph, "", "", kPrecisions}};

}  // namespace

std::span<const BackendEntry> table() { return kTable; }

std::unique_ptr<Backend> make_backend(Emulation* emulation, Precision precision) {
  return std::make_unique<EmulatedBackend>(emulation, precision);
}

}  // namespace hios::emulated
