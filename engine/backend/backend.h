#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/backend/core_shares.h"
#include "engine/backend/tensor_source.h"
#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"
#include "hios/base/json/owned_json.h"
#include "hios/base/numbers/precision.h"
#include "hios/graph/fusion/coarsen.h"
#include "mpi/accelerator.h"

/// The interface of devices to the engine. Each backend is one folder and one row of
/// engine/backends.cpp.
namespace hios {

/// Device memory, owned. `data()` is a host pointer where Backend::accelerator() is null, else an
/// address on the device, which only Backend::read and write reach from the host.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* data() = 0;
  virtual Bytes size_bytes() const = 0;
};

/// One operator of a coarse graph, to be computed.
struct Operation {
  const Model* model = nullptr;
  const OperatorLayers* layers = nullptr;
  std::string name;       ///< for messages
  std::string signature;  ///< for caches
};

/// One operator with its weights and buffers, ready to run any number of times: descriptors,
/// weights' layouts and scratch were made with it.
class BoundOperator {
 public:
  virtual ~BoundOperator() = default;
  /// Runs the operator. Called on the core share's stream; on an asynchronous device, from the main
  /// thread, and only queues the work. Allocates and locks nothing, but for operators of emulated
  /// machines, which lock the buses that ranks share.
  virtual void run() = 0;
};

/// Recorded work that can be queued again as a whole, at the cost of one call: on a GPU a captured
/// graph.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
};

/// Readings of a device's clock, by index.
class ClockMarks {
 public:
  virtual ~ClockMarks() = default;
  /// Queues a reading, in order with the work of a queue; may be part of a recording.
  virtual void mark_in(mpi::Queue queue, std::size_t index) = 0;
  void mark(std::size_t index) { mark_in(mpi::Queue::kWork, index); }
  /// Returns the time from reading `from` to reading `to`. REQUIRES: both were read, and
  /// synchronize() was called since.
  virtual double ms(std::size_t from, std::size_t to) const = 0;
};

/// See Backend::bind_cache_flush.
class CacheFlush : public BoundOperator {
 public:
  virtual void set_size(Bytes size_bytes) = 0;  ///< clamped to the stretch's size
};

/// A group: its operators in order.
using BoundGroup = std::vector<BoundOperator*>;

/// The memory that bound operators use, outside their buffers, in all layouts that they need.
struct HeldMemory {
  Bytes weights = 0;
  Bytes scratch = 0;  ///< working memory that operators share
};

/// The way in which Backend::algorithms chooses.
enum class Choosing {
  kByTiming,         ///< the fastest
  kByTimingInParts,  ///< the fastest of those that may give parts of an image the whole's bits
  kLikeParts,        ///< that whose bits depend on the image least: the last resort of the above
  kByRule            ///< with the same result each time, where the backend has a rule (cpu)
};

/// One device of this rank. Made on the main thread, which makes all calls except
/// BoundOperator::run.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;  ///< "reference", "cpu"
  virtual std::string_view kind() const = 0;  ///< the kind of device: "cpu", "cpu-avx2", "gpu"
  virtual int threads() const = 0;
  /// Returns the arithmetic of the backend, and the element type of its buffers.
  virtual Precision precision() const { return Precision::kFp32; }
  Bytes element_bytes() const;  ///< 4, fp32; or 2, halves (IEEE 754, as the machine orders bytes)
  /// Returns library and machine facts for provenance: {"library": "oneDNN 2.6.3", "isa": …}.
  virtual Json describe() const = 0;

  /// Returns nothing if it can run the operation, else the reason why not, in words.
  virtual std::optional<std::string> unsupported(const Operation& operation) const = 0;

  /// Returns the algorithms that the operation's bits depend on, by keys of the backend's own:
  /// those given to it, and the rest chosen here, which may take time. Empty where there is no
  /// choice. Backends that have no rule, or do not know parts, time in each case.
  virtual Json algorithms(const Operation& operation, Choosing how);
  /// Returns how the candidates of algorithms() fared, by the same keys: for each an object of
  /// candidates, with a time in ms or the reason why it was refused. Empty where none was tried.
  virtual Json trials() const;
  /// Takes an algorithm that computes the operation in blocks of so many rows of its output, so
  /// that shards which begin at multiples of them compute the same blocks, and returns it as
  /// algorithms() does; empty where there is none.
  virtual Json in_blocks_of_rows(const Operation& operation, std::int64_t rows);
  /// Sets the algorithms, as BackendOptions::algorithms does: the result of one rank's
  /// algorithms(), on all ranks that shall compute its bits. Replaces keys that it knows already.
  /// REQUIRES: nothing is bound yet.
  virtual void adopt(const Json& /*algorithms*/) {}

  /// Allocates memory of the device, which begins on 64 bytes. Throws RunError that names the size
  /// and `what`.
  virtual std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) = 0;

  /// Binds an operation to its buffers (NHWC, elements by precision(), one input pointer for each
  /// of `layers->inputs`, in order). Weights come from `source` and may be shared with other bound
  /// operators of the same name. The pointers must stay valid, and `output` overlaps no input.
  /// Tensors begin on 64 bytes, also those that are some rows of another. Only batches
  /// (hios/graph/batches.h) may begin at any element, since inputs follow one another without
  /// gaps: a backend that needs more works on aligned copies of these, as the one of GPUs does.
  virtual std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                              std::span<const std::byte* const> inputs,
                                              std::byte* output, const CoreShare& share,
                                              TensorSource& source) = 0;

  /// Runs the groups of a stage, group g on core share g, and returns when all have ended. An
  /// exception of a group ends the stage and is rethrown here. Allocates nothing. `poll` (may be
  /// null) is called on the main thread between two operators of its own group, and while an
  /// emulated one sleeps. An asynchronous device only queues the stage, in order with what was
  /// queued before, and calls no `poll`.
  virtual void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                         void (*poll)(void*), void* poll_argument) = 0;

  /// Copy between host memory and a buffer's, and wait until the copy has ended. REQUIRES:
  /// synchronize() since the last work that uses the buffer was queued.
  virtual void write(std::byte* to, const void* from_host, Bytes size_bytes);
  virtual void read(void* to_host, const std::byte* from, Bytes size_bytes);
  /// Returns an operator that flushes the caches of its core share by reading as many bytes of
  /// `stretch` as set_size says.
  virtual std::unique_ptr<CacheFlush> bind_cache_flush(std::span<const std::byte> stretch,
                                                       const CoreShare& share);
  /// Returns the size of the largest cache that stages use: reading so many bytes flushes it.
  virtual Bytes cache_bytes() const;
  /// Returns the bytes that can still be allocated; empty where the operating system decides that.
  virtual std::optional<Bytes> free_memory() const { return std::nullopt; }
  /// Returns true if parameter_memory() shows parameters, so that they can be loaded later.
  virtual bool shows_parameters() const { return false; }
  /// Returns the memory of an operation's parameters, in all layouts that bound operators of it
  /// read from this source. Whoever overwrites it changes what they compute, and what operators are
  /// bound to later.
  virtual std::vector<std::span<std::byte>> parameter_memory(const Operation& /*operation*/,
                                                             const TensorSource& /*source*/) {
    return {};
  }
  /// Gives the parameters of operators that are bound next one stretch of memory, in which they lie
  /// in the order of binding, so that neighbours can be loaded as one, and other ranks can map
  /// them. Those that do not fit lie elsewhere. Backends to which that means nothing ignore it.
  virtual void reserve_parameters(Bytes /*size_bytes*/) {}
  /// Returns nothing if operators that are bound to a source in host memory
  /// (TensorSource::in_host_memory) read it there, else the reason why not, in words.
  virtual std::optional<std::string> unsupported_in_place() const { return std::nullopt; }
  /// Returns the memory of the operators that are bound now; empty where the backend does not count
  /// it.
  virtual std::optional<HeldMemory> held_memory() const { return std::nullopt; }

  /// Returns null where stages have ended when run_stage returns, and buffers are host memory.
  /// Otherwise the device is asynchronous, and the functions below apply.
  virtual mpi::Accelerator* accelerator() { return nullptr; }
  /// Waits for all queued work. Throws RunError where some of it failed.
  virtual void synchronize() {}
  /// Records the run_stage and mark calls of `queue`, to be queued again as a whole. They run once
  /// before and are waited for: a library may load code and allocate when a stream first uses it,
  /// which no recording allows. Returns null where nothing is recorded (host backends, or
  /// BackendOptions::graphs off: then `queue` was not called), and where the device refuses: a
  /// warning says so once, and nothing is recorded from then on; with `refusal`, the device's
  /// message is written there instead, and other work may be recorded still. Throws RunError where
  /// the run before failed.
  std::unique_ptr<Recording> record(const std::function<void()>& queue,
                                    std::string* refusal = nullptr);
  /// Returns the device's message when it refused to record; empty: it did not refuse.
  const std::string& recording_refused() const { return recording_refused_; }
  /// Makes readings of the device's clock. REQUIRES: accelerator().
  virtual std::unique_ptr<ClockMarks> make_marks(std::size_t count);

 protected:
  /// Returns true if the backend records; else make_recording is not called.
  virtual bool records() const { return false; }
  /// Runs `queue`, which is recorded, not executed. Throws RunError where the device refuses; this
  /// has no effect on work queued before or later.
  virtual std::unique_ptr<Recording> make_recording(const std::function<void()>& queue);

 private:
  std::string recording_refused_;
};

/// Options of all backends. A backend ignores those that do not concern it.
struct BackendOptions {
  int threads = 1;
  /// The cores this rank may use, as the operating system numbers them; empty: pin nothing.
  std::vector<int> cores;
  /// Variables of the program's environment that times depend on, for describe() only.
  OwnedJson environment = {};
  Precision precision = Precision::kFp32;  ///< REQUIRES: its backend has it (engine/backends.h)
  /// The newest instructions to compute with (hios/platform/cpu_kinds.h); empty: all there are. The
  /// device is of the cap's kind, then.
  std::string_view instructions = {};
  // For devices other than the CPU:
  int device_index = 0;       ///< in the driver's numbering of those that this rank may see
  bool graphs = true;         ///< record() records
  bool deterministic = true;  ///< uses only algorithms that give the same bits each time
  /// Algorithms that are never tried nor run, by their names or the first words of these: a word is
  /// a whole family.
  std::vector<std::string> without_algorithms = {};
  /// The result of Backend::algorithms, on all ranks that shall agree; the backend chooses those
  /// that are missing.
  OwnedJson algorithms = {};
};

}  // namespace hios
