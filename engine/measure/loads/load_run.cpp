// The operators read parameters that stay, so that no load changes what they compute with, and a
// lane that is longer than the network keeps loading. The store's copy and the memory that loads
// write to are apart from these, as in a cold start.
#include "engine/measure/loads/load_run.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "engine/backend/arena.h"
#include "engine/host/clock.h"
#include "hios/base/files/direct_file.h"
#include "hios/graph/parameters.h"

namespace hios {
namespace {

/// The memory of all passes from a disk.
constexpr Bytes kMostArrived = Bytes{1} << 30;

/// Returns this moment on the clock of LoadClock.
double load_clock_ms() { return ms_between({}, Clock::now()); }

/// Returns where a copy of this size begins, at `at` or later: as in a run, so that a disk fills
/// large ones without a further copy.
Bytes placed(Bytes at, Bytes size_bytes) {
  const Bytes step = size_bytes >= Bytes{64} * 1024 ? DirectFile::kAlignment : kArenaAlignment;
  return (at + step - 1) / step * step;
}

}  // namespace

std::vector<PlannedLoad> loads_of_all(const Graph& graph, StoreId store) {
  const ParameterSets sets(graph);
  std::vector<PlannedLoad> loads;
  std::set<std::size_t> seen;
  for (const OpId op : graph.topological()) {
    const auto set = sets.of(op);
    if (!set || !seen.insert(*set).second) continue;
    loads.push_back({.index = loads.size(),
                     .readers = sets.sets()[*set].operators,
                     .size_bytes = sets.sets()[*set].size_bytes,
                     .store = store});
  }
  return loads;
}

void require_packed(const RankContext& rank, const PackedParameters& packed) {
  const BlockRun network(rank, {0, rank.graph().size()});
  for (std::size_t v = 0; v < rank.graph().size(); ++v) {
    const Operator& op = rank.graph().op(OpId(v));
    if (op.parameter_bytes == 0) continue;
    for (const auto& part : network.parameter_memory(OpId(v))) packed.find(part, op.name);
  }
}

LoadRun::LoadRun(const RankContext& rank, BlockRun& network, const LoadOptions& options)
    : network_(network), options_(options) {
  const StoreId store = options.disks.empty() ? StoreId(0) : options.disks.front();
  const std::vector<std::vector<PlannedLoad>> lanes = {loads_of_all(rank.graph(), store)};
  for (const PlannedLoad& load : lanes.front()) sizes_.push_back(load.size_bytes);
  const std::string who = "rank " + std::to_string(rank.transport.rank().index());
  kept_ = std::make_unique<KeptParameters>(
      rank.backend, lanes, [&](OpId op) { return network.parameter_memory(op); },
      [&](OpId op) { return rank.graph().op(op).name; }, options, who);
  lane_ = kept_->lanes().front();
  Bytes size = 0;
  for (const auto& load : lane_) {
    for (const ParameterCopy& copy : load) {
      offsets_.push_back(placed(size, copy.size_bytes));
      size = offsets_.back() + copy.size_bytes;
    }
  }
  const std::string what = "the parameters that " + who + " loads";
  make_room_ = [&backend = rank.backend, size, what] { return backend.allocate(size, what); };
  most_passes_ = std::max<Bytes>(kMostArrived / std::max<Bytes>(size, 1), 1);
  set_passes(1);
}

void LoadRun::place(std::byte* to) {
  std::size_t next = 0;
  for (auto& load : lane_) {
    for (ParameterCopy& copy : load) copy.to = to + offsets_[next++];
  }
}

const DirectFile* LoadRun::file() const {
  return options_.packed ? &options_.packed->file() : nullptr;
}

// Another rank may have read the same file a moment ago.
void LoadRun::drop_cached() const {
  if (file()) file()->drop_cached();
}

void LoadRun::set_passes(std::size_t passes) {
  if (file()) passes = std::min<std::size_t>(passes, most_passes_);
  loader_.reset();  // before another has threads and buffers
  Loader::LaneOfCopies all;
  for (std::size_t pass = 0; pass < passes; ++pass) {
    // Memory that two loads bring is copied to, and a run's loads come straight from the disk.
    const std::size_t room = file() ? pass : 0;
    if (room == arrived_.size()) arrived_.push_back(make_room_());
    place(arrived_[room]->data());
    all.insert(all.end(), lane_.begin(), lane_.end());
  }
  std::vector<Loader::LaneOfCopies> lanes;
  lanes.push_back(std::move(all));
  loader_ = std::make_unique<Loader>(std::move(lanes), options_.cores,
                                     std::vector<std::vector<std::size_t>>(), file());
}

void LoadRun::forget() {
  for (const auto& room : arrived_) std::memset(room->data(), 0xff, room->size_bytes());
}

LoadRun::Alone LoadRun::load() {
  Alone alone;
  drop_cached();
  const double begin_ms = load_clock_ms();
  loader_->begin();
  loader_->finish();
  const std::span<const LoadClock> clocks = loader_->clocks(0);
  alone.lead_ms = clocks.front().start_ms - begin_ms;
  for (std::size_t i = 0; i < lane_.size(); ++i) {
    alone.ms.push_back(clocks[i].end_ms - clocks[i].start_ms);
  }
  alone.pass_ms = clocks[lane_.size() - 1].end_ms - begin_ms;
  alone.all_ms = clocks.back().end_ms - begin_ms;
  return alone;
}

LoadRun::Both LoadRun::load_and_run() {
  drop_cached();
  const double begin_ms = load_clock_ms();
  loader_->begin();
  const double operators_ms = run();
  loader_->finish();
  return {operators_ms, loader_->clocks(0).back().end_ms - begin_ms};
}

double LoadRun::run() {
  const Stopwatch stopwatch;
  for (std::size_t i = 0; i < network_.size(); ++i) network_.run(i);
  return stopwatch.ms();
}

}  // namespace hios
