#include "cli/schedule/inputs/memory_need.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <vector>

#include "cli/table.h"
#include "engine/host/available_memory.h"
#include "hios/base/error.h"
#include "hios/base/files/streams.h"

// The bytes below are fitted to peaks of resident memory (ru_maxrss, less those of --version) of
// hios-schedule on random networks of 10^4 to 10^6 operators, with 2 and 10 edges an operator, on 1
// to 64 devices, `best` with 1 to 64 islands until time ran out; for inputs, to reading back what
// --export-graph wrote of them. The peaks are 0.7 to 1.3 times the estimate.

namespace hios::cli {

namespace {

// Making a graph: names, times and edges, with the sets and copies that it is made from.
constexpr Bytes kMakingOperator = 510, kMakingEdge = 164;
// A graph in memory, with the costs of its operators and edges.
constexpr Bytes kOperator = 350, kEdge = 76;
// A device that an operator names, with a time: in memory, and written.
constexpr Bytes kDeviceName = 80, kWrittenDeviceName = 220;
// A time, and an entry of the table of Alg. 3, which needs the most memory of the paper's
// algorithms.
constexpr Bytes kOperatorOnDevice = 24;
// `best`: an island holds two arrangements and a timing.
constexpr Bytes kOperatorOnIsland = 190;
// JSON trees together with their text: a graph, a schedule, a trace with its slices and arrows.
constexpr Bytes kWrittenOperator = 850, kWrittenEdge = 490;
constexpr Bytes kScheduledOperator = 490;
constexpr Bytes kSlice = 890, kArrow = 1100;
constexpr Bytes kTreeOfAByte = 6;

std::string in_words(Bytes bytes) {
  const auto number = static_cast<double>(bytes);
  return bytes < 1'000'000'000 ? fixed(number / 1e6, 0) + " MB" : fixed(number / 1e9, 1) + " GB";
}

}  // namespace

Bytes graph_bytes(const ProblemSize& size) {
  return kMakingOperator * size.operators + kMakingEdge * size.edges +
         kDeviceName * size.device_names;
}

Bytes working_bytes(const ProblemSize& size, const Work& work) {
  const Bytes operators = size.operators, edges = size.edges;
  const Bytes kept = kOperator * operators + kEdge * edges + kDeviceName * size.device_names;
  const Bytes planning =
      operators * (kOperatorOnDevice * size.devices + kOperatorOnIsland * work.islands);
  Bytes writing = kScheduledOperator * operators * work.json_schedules;
  if (work.drawn != Drawn::kNothing) {
    // A tensor travels once to each device, if an edge leads there.
    const Bytes arrows =
        work.drawn == Drawn::kOneDevice ? 0 : std::min(edges, operators * (size.devices - 1));
    writing = std::max(writing, kSlice * operators + kArrow * arrows);
  }
  if (work.exports_graph) {
    writing = std::max(writing, kWrittenOperator * operators + kWrittenEdge * edges +
                                    kWrittenDeviceName * size.device_names);
  }
  return std::max(graph_bytes(size), kept + std::max(planning, writing));
}

namespace {

/// Returns the number of classes of devices that exchange tensors alike, at most: devices without a
/// link of their own are one.
Bytes transfer_classes(const Platform& platform) {
  const Bytes devices = platform.size();
  if (platform.topology() || platform.traffic().routing != Routing::kDirect) return devices;
  std::vector<bool> linked(devices, false);
  for (const auto& [from, to, link] : platform.links())
    linked[from.index()] = linked[to.index()] = true;
  return std::min<Bytes>(devices, 1 + static_cast<Bytes>(std::ranges::count(linked, true)));
}

}  // namespace

Bytes cost_model_bytes(const Graph& graph, const Platform& platform, bool profiled) {
  // A larger table is not kept: then costs are computed for each query.
  constexpr Bytes kMostTable = Bytes{64} << 20;
  constexpr Bytes kPair = 64;
  const Bytes devices = platform.size();
  std::unordered_set<Bytes> sizes;
  Bytes by_pair = 0;
  for (const Edge& edge : graph.edges()) {
    if (edge.transfer_ms || devices < 2) continue;
    if (edge.transfer_by_pair) {
      ++by_pair;
    } else {
      sizes.insert(edge.size_bytes);
    }
  }
  if (devices < 2) return sizeof(double) * graph.size();
  const Bytes classes = profiled || by_pair > 0 ? devices : transfer_classes(platform);
  const Bytes table = sizeof(double) * (sizes.size() + by_pair) * classes * classes;
  return sizeof(double) * devices * graph.size() + kPair * classes * classes +
         std::min(table, kMostTable);
}

void require_memory(Bytes needed, const std::string& purpose, const std::string& remedy) {
  const auto left = available_memory();
  if (!left || needed <= *left) return;
  throw InputError(purpose + " takes about " + in_words(needed) + " of memory, and " +
                   in_words(*left) + " are left: " + remedy);
}

void require_memory(const ProblemSize& size, const Work& work, Bytes there) {
  const Bytes whole = working_bytes(size, work);
  std::string purpose = "planning " + std::to_string(size.operators) + " operators and " +
                        std::to_string(size.edges) + " edges on " + std::to_string(size.devices) +
                        " devices";
  std::string remedy = "take a smaller graph or fewer devices, ";
  if (work.islands > 1) {
    purpose += " with " + std::to_string(work.islands) + " islands";
    remedy = "take fewer islands (--option islands=1), a smaller graph or fewer devices, ";
  }
  require_memory(whole - std::min(whole, there), purpose,
                 remedy + "or give the program more memory");
}

Json read_input(const std::string& file, const ReadLimits& limits) {
  std::error_code unreadable;  // read_json() gives the reason
  const std::uintmax_t size = is_standard_input(file)
                                  ? standard_input(limits).size()
                                  : std::filesystem::file_size(file, unreadable);
  if (!unreadable && size <= limits.max_bytes) {
    require_memory(kTreeOfAByte * size, "reading " + file,
                   "give the program more memory, or take a smaller file");
  }
  return read_json(file, limits);
}
}  // namespace hios::cli
