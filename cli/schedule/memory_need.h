#pragma once

#include <cstddef>
#include <string>

#include "hios/base/json/json_io.h"
#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

/// Refusing what does not fit, before the system's memory runs out and it ends a program of its
/// choice. Estimates are of the most that a program holds at any time, beside what it holds when it
/// starts.
namespace hios::cli {

/// What decides how much memory a problem takes.
struct ProblemSize {
  std::size_t operators = 0;
  std::size_t edges = 0;
  std::size_t devices = 1;
  std::size_t device_names = 0;  ///< in the operators' times by device and lists of those allowed
};

/// The devices that a trace of the plan shows work on.
enum class Drawn { kNothing, kOneDevice, kAllDevices };

/// What is done with a problem, as far as it takes memory. Bounds and a simulation always belong to
/// it.
struct Work {
  std::size_t islands = 0;         ///< of `best`; 0: that one is not asked
  std::size_t json_schedules = 0;  ///< written together
  Drawn drawn = Drawn::kNothing;
  bool exports_graph = false;
};

/// Making the graph alone.
Bytes graph_bytes(const ProblemSize& size);

/// The graph and everything that is done with it.
Bytes working_bytes(const ProblemSize& size, const Work& work);

/// What the costs of all operators and transfers on all devices take, to a few per cent: a time an
/// operator and device, and where links decide, a time a size of message and pair of devices.
Bytes cost_model_bytes(const Graph& graph, const Platform& platform);

/// Throws InputError where `needed` is more than this machine (or the container's or the process's
/// limit) has left; `purpose` says what for, `remedy` what to do. Where the system does not say,
/// nothing is refused.
void require_memory(Bytes needed, const std::string& purpose, const std::string& remedy);

/// The same for working_bytes() of a problem. `there`: bytes of it that are held already.
void require_memory(const ProblemSize& size, const Work& work, Bytes there);

/// read_json(), refused where the file's text and tree would not fit.
Json read_input(const std::string& file, const ReadLimits& limits);

}  // namespace hios::cli
