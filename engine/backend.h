#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor_source.h"
#include "hios/coarsen.h"
#include "hios/ids.h"
#include "hios/json_io.h"

/// What a device can do for the engine. One folder and one row of backends.cpp each.
namespace hios {

/// Where a group runs: a stream, and what it may use there. A stage of k groups divides the
/// device's cores among its groups; the first groups get the remainder.
struct Lane {
  StreamIndex stream;
  int threads = 1;     ///< cores of this group (CPU)
  int first_core = 0;  ///< index into the rank's cores (CPU)
  bool operator==(const Lane&) const = default;
};

/// The lanes of a stage of `groups` groups on a device of `threads` cores. Group g gets
/// threads/groups cores (the first threads%groups one more), but never less than one: with more
/// groups than cores the later ones share cores.
std::vector<Lane> lanes(std::size_t groups, int threads);

/// Device memory, owned. `data()` is a host pointer for CPU backends.
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
  /// Called on the lane's stream. Allocates nothing, locks nothing.
  virtual void run() = 0;
};

/// A group: its operators in order.
using BoundGroup = std::vector<BoundOperator*>;

/// One device as this rank sees it. Made on the main thread, which makes all calls except
/// BoundOperator::run.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;  ///< "reference", "cpu"
  virtual std::string_view kind() const = 0;  ///< the kind of device it is: "cpu", "gpu"
  virtual int threads() const = 0;
  /// Library and machine facts for provenance: {"library": "oneDNN 2.6.3", "isa": …}.
  virtual Json describe() const = 0;

  /// Empty if it can run the operation, else why not, in words.
  virtual std::optional<std::string> unsupported(const Operation& operation) const = 0;

  /// Throws RunError that says how much was asked for what.
  virtual std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) = 0;

  /// Binds an operation to its buffers (NHWC fp32, one input pointer for each of
  /// `layers->inputs`, in order). Weights are drawn from `source` and may be shared with other
  /// bound operators of the same name. The pointers must stay valid and 64-byte aligned; `output`
  /// overlaps no input.
  virtual std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                              std::span<const std::byte* const> inputs,
                                              std::byte* output, const Lane& lane,
                                              TensorSource& source) = 0;

  /// Runs the groups of a stage, group g on lane g, and returns when all have ended. An exception
  /// of a group ends the stage and is rethrown here. Allocates nothing. `poll` (may be null) is
  /// called on the main thread between two operators of its own group.
  virtual void run_stage(std::span<const BoundGroup> groups, std::span<const Lane> lanes,
                         void (*poll)(void*), void* poll_argument) = 0;
};

/// What a backend is made with.
struct BackendOptions {
  int threads = 1;
  /// The cores this rank may use, as the operating system numbers them; empty: pin nothing.
  std::vector<int> cores;
  /// What the program's environment says that times depend on, for describe(): nothing else reads
  /// it.
  Json environment = Json::object();
};

/// A row of the table of backends.
struct BackendEntry {
  std::string_view name;
  std::string_view description;
  std::string_view kind;
  std::unique_ptr<Backend> (*make)(const BackendOptions&);  ///< nullptr: not in this build
  std::string_view missing;                                 ///< why not, and the remedy
};

/// In order of preference for "auto" (the first that this build has).
std::span<const BackendEntry> backends();
/// Throws InputError: unknown name (lists them), or not in this build (why).
const BackendEntry& find_backend(std::string_view name);

}  // namespace hios
