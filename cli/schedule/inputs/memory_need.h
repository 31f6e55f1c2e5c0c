#pragma once

#include <cstddef>
#include <string>

#include "hios/base/json/json_io.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

/// Estimates of memory, by which a problem that does not fit is refused before the system runs out
/// of memory and kills some program. An estimate is the peak of a program's memory, less the memory
/// that it holds when it starts.
namespace hios::cli {

/// The size of a problem, on which its memory depends.
struct ProblemSize {
  std::size_t operators = 0;
  std::size_t edges = 0;
  std::size_t devices = 1;
  std::size_t device_names = 0;  ///< in the operators' times by device and lists of those allowed
};

/// The devices with operators in a trace of the plan.
enum class Drawn { kNothing, kOneDevice, kAllDevices };

/// The steps of a command that take memory. Bounds and a simulation always belong to them.
struct Work {
  std::size_t islands = 0;         ///< islands of `best`; 0: it does not run
  std::size_t json_schedules = 0;  ///< written together
  Drawn drawn = Drawn::kNothing;
  bool exports_graph = false;
};

/// Returns the bytes for making the graph alone.
Bytes graph_bytes(const ProblemSize& size);

/// Returns the bytes of the graph and of all steps with it.
Bytes working_bytes(const ProblemSize& size, const Work& work);

/// Returns the bytes of the costs of all operators and transfers on all devices, to a few per cent:
/// a time per operator and device, and, where links decide, per size of message and pair of classes
/// of devices that exchange tensors alike. `profiled`: a profile gives the times.
Bytes cost_model_bytes(const Graph& graph, const Platform& platform, bool profiled);

/// Throws InputError where `needed` is more memory than this machine, the container's or the
/// process's limit has left. The message has the purpose of the memory and the remedy. Where the
/// system gives no number, nothing is refused.
void require_memory(Bytes needed, const std::string& purpose, const std::string& remedy);

/// Throws likewise for working_bytes() of a problem, of which `there` bytes are held already.
void require_memory(const ProblemSize& size, const Work& work, Bytes there);

/// Reads a file as read_json() does. Throws InputError where its text and tree would not fit.
Json read_input(const std::string& file, const ReadLimits& limits);

}  // namespace hios::cli
