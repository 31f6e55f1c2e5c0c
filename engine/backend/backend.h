#pragma once

#include <cstddef>
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
#include "hios/base/numbers/precision.h"
#include "hios/graph/fusion/coarsen.h"
#include "mpi/accelerator.h"

/// What a device can do for the engine. One folder and one row of engine/backends.cpp each.
namespace hios {

/// Device memory, owned. `data()` is a host pointer where Backend::accelerator() is null, else an
/// address on the device, which only Backend::read and write reach from the host.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual std::byte* data() = 0;
  virtual Bytes size_bytes() const = 0;
};

/// What to compute: one operator of a coarse graph.
struct Operation {
  const Model* model = nullptr;
  const OperatorLayers* layers = nullptr;
  std::string name;       ///< for messages
  std::string signature;  ///< for caches
};

/// One operator with its weights and buffers, ready to run as often as one likes: descriptors,
/// weights' layouts and scratch were settled when it was made.
class BoundOperator {
 public:
  virtual ~BoundOperator() = default;
  /// Called on the core share's stream; on an asynchronous device, from the main thread, and only
  /// queues there. Allocates nothing, locks nothing.
  virtual void run() = 0;
};

/// Work that was queued once and can be queued again as a whole, at the cost of one call: on a GPU
/// a captured graph.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void replay() = 0;
};

/// Readings of a device's clock, by index.
class ClockMarks {
 public:
  virtual ~ClockMarks() = default;
  /// Queues a reading; may be part of a recording.
  virtual void mark(std::size_t index) = 0;
  /// From reading `from` to reading `to`. REQUIRES: both read, and synchronize() since.
  virtual double ms(std::size_t from, std::size_t to) const = 0;
};

/// See Backend::bind_cache_flush.
class CacheFlush : public BoundOperator {
 public:
  virtual void set_size(Bytes size_bytes) = 0;  ///< clipped to the stretch
};

/// A group: its operators in order.
using BoundGroup = std::vector<BoundOperator*>;

/// What operators hold beside their buffers, in all layouts that they need.
struct HeldMemory {
  Bytes weights = 0;
  Bytes scratch = 0;  ///< working memory that operators share
};

/// How Backend::algorithms chooses what it was not given: the fastest by timing; or by a rule that
/// gives the same each time, where the backend has one (cpu; the others time then, too).
enum class Choosing { kByTiming, kByRule };

/// One device as this rank sees it. Made on the main thread, which makes all calls except
/// BoundOperator::run.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;  ///< "reference", "cpu"
  virtual std::string_view kind() const = 0;  ///< the kind of device: "cpu", "cpu-avx2", "gpu"
  virtual int threads() const = 0;
  /// The arithmetic it was made for, and with it what the elements of buffers are.
  virtual Precision precision() const { return Precision::kFp32; }
  Bytes element_bytes() const;  ///< 4, fp32; or 2, halves (IEEE 754, as the machine orders bytes)
  /// Library and machine facts for provenance: {"library": "oneDNN 2.6.3", "isa": …}.
  virtual Json describe() const = 0;

  /// Empty if it can run the operation, else why not, in words.
  virtual std::optional<std::string> unsupported(const Operation& operation) const = 0;

  /// The algorithms that the operation's bits depend on, by keys of the backend's own: those given
  /// to it, and the rest chosen here, which may take time. Empty where there is nothing to choose.
  virtual Json algorithms(const Operation&, Choosing) { return Json::object(); }
  /// Computes with these from now on, as with BackendOptions::algorithms: what one rank's
  /// algorithms() said, on all ranks that shall give its bits. Keys it knows already are replaced.
  /// REQUIRES: nothing is bound yet.
  virtual void adopt(const Json& /*algorithms*/) {}

  /// Throws RunError that says how much was asked for what.
  virtual std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) = 0;

  /// Binds an operation to its buffers (NHWC, elements by precision(), one input pointer for each
  /// of `layers->inputs`, in order). Weights are drawn from `source` and may be shared with other
  /// bound operators of the same name. The pointers must stay valid and 64-byte aligned; `output`
  /// overlaps no input.
  virtual std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                              std::span<const std::byte* const> inputs,
                                              std::byte* output, const CoreShare& share,
                                              TensorSource& source) = 0;

  /// Runs the groups of a stage, group g on core share g, and returns when all have ended. An
  /// exception of a group ends the stage and is rethrown here. Allocates nothing. `poll` (may be
  /// null) is called on the main thread between two operators of its own group. An asynchronous
  /// device only queues the stage, in order with what was queued before, and calls no `poll`.
  virtual void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                         void (*poll)(void*), void* poll_argument) = 0;

  /// Copies between host memory and a buffer's, which wait until they have ended. REQUIRES:
  /// synchronize() since what was queued on the buffer.
  virtual void write(std::byte* to, const void* from_host, Bytes size_bytes);
  virtual void read(void* to_host, const std::byte* from, Bytes size_bytes);
  /// An operator that reads all of `stretch` through the caches of its core share, and drives out
  /// what was there; how much of it is set_size's to say.
  virtual std::unique_ptr<CacheFlush> bind_cache_flush(std::span<const std::byte> stretch,
                                                       const CoreShare& share);
  /// What the largest cache holds that stages run through: so much drives everything else out.
  virtual Bytes cache_bytes() const;
  /// What can still be allocated; nothing where that is the operating system's affair.
  virtual std::optional<Bytes> free_memory() const { return std::nullopt; }
  /// What the operators that are bound now hold; nothing where the backend does not count it.
  virtual std::optional<HeldMemory> held_memory() const { return std::nullopt; }

  /// Null: stages have ended when run_stage returns, and buffers are host memory. Else the device
  /// is asynchronous, and the calls below have a meaning.
  virtual mpi::Accelerator* accelerator() { return nullptr; }
  /// Waits for all that was queued. Throws RunError where some of it failed.
  virtual void synchronize() {}
  /// Records the run_stage and mark calls of `queue`, to be queued again as a whole. They run once
  /// before and are waited for: a library may load code and allocate when a stream first uses it,
  /// which no recording allows. Null where nothing is to be recorded (host backends,
  /// BackendOptions::graphs off: then `queue` was not called), and where the device refused: a
  /// warning says so once, and from then on nothing is recorded. Throws RunError where the run
  /// before failed.
  std::unique_ptr<Recording> record(const std::function<void()>& queue);
  /// What the device said when it refused to record; empty: it did not.
  const std::string& recording_refused() const { return recording_refused_; }
  /// REQUIRES: accelerator().
  virtual std::unique_ptr<ClockMarks> make_marks(std::size_t count);

 protected:
  /// Whether make_recording is to be called at all.
  virtual bool records() const { return false; }
  /// Runs `queue`, which is recorded, not executed. Throws RunError where the device refuses; what
  /// was queued before and what is queued later is then as if nobody had asked.
  virtual std::unique_ptr<Recording> make_recording(const std::function<void()>& queue);

 private:
  std::string recording_refused_;
};

/// What a backend is made with. A backend ignores what is not its own.
struct BackendOptions {
  int threads = 1;
  /// The cores this rank may use, as the operating system numbers them; empty: pin nothing.
  std::vector<int> cores;
  /// What the program's environment says that times depend on, for describe(): nothing else reads
  /// it.
  Json environment = Json::object();
  Precision precision = Precision::kFp32;  ///< REQUIRES: its backend has it (engine/backends.h)
  /// The newest instructions to compute with (hios/platform/cpu_kinds.h); empty: all there are. The
  /// device is of the cap's kind, then.
  std::string_view instructions = {};
  // Of devices beside the CPU:
  int device_index = 0;       ///< as the driver numbers those that this rank may see
  bool graphs = true;         ///< record() records
  bool deterministic = true;  ///< only algorithms that give the same bits each time
  /// What Backend::algorithms said, on all ranks that shall agree; what is missing, the backend
  /// chooses.
  Json algorithms = Json::object();
};

}  // namespace hios
