// A stage's time depends on the contents of the caches when it starts. In a run its inputs have
// just been written by the operators before it, and its weights were last read an iteration ago.
// Timing stages one after the other would measure the reverse: cold inputs, and weights still warm
// from the stage before, since the stages that a scheduler asks for overlap. So each stage of a
// sweep is three steps, of which only the last is timed:
//
//  - flush the caches: if an operator of the stage ran recently, read the bytes that are missing to
//    `cold_bytes` since then, on every core;
//  - produce: run the operators whose outputs the stage reads, one after the other on all cores.
//    Their own inputs are fixed values, so that no value can grow from sweep to sweep;
//  - run the stage.
//
// Where operators were cut, a stage reads ranges of tensors that several operators produce. These
// lie together as in a run, and each reads what was just produced for it, not one tensor for all.
//
// An asynchronous device is given a whole sweep before the host waits, and its own clock is read
// around each stage. Produce and run are one recording, as a run replays segments of many stages.
//
// All stages of a batch use the same bytes for their tensors, as all iterations of a run use the
// same arena. The result is not exactly a stage of a run: the operators that run on other ranks are
// those of the same sweep, and a tensor that would come from another rank is produced here. Tests:
// tests/engine/measure/profiler_test.cpp.
#include "engine/measure/stages/stage_batch.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

#include "engine/backend/arena.h"
#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"
#include "engine/host/clock.h"
#include "engine/run/output_regions.h"
#include "hios/base/numbers/random.h"

namespace hios {
namespace {

struct Item {
  std::size_t index = 0;  // the stage's, in the caller's order
  Bytes flush_bytes = 0;
  BoundGroup produce;
  std::vector<BoundGroup> groups;
  std::vector<CoreShare> shares;
  std::unique_ptr<Recording> recording;  // all steps but the flush, where the device records
};

// An item's marks, by its position in a sweep.
constexpr std::size_t start_mark(std::size_t position) { return 2 * position; }
constexpr std::size_t end_mark(std::size_t position) { return 2 * position + 1; }

}  // namespace

struct StageBatch::State {
  explicit State(const RankContext& rank)
      : coarse(rank.coarse), model(rank.model), backend(rank.backend), source(rank.source) {}

  std::vector<OpId> producers(const Stage& stage) const;
  OutputRegions outputs(const Stage& stage) const;
  std::vector<std::size_t> in_topological_order(std::span<const Stage> stages) const;
  void allocate(std::span<const Stage> stages);
  void make_flushes(Bytes cold_bytes);
  Item make_item(std::size_t index, const Stage& stage);
  BoundOperator* bind(OpId op, const OutputRegions& outputs, const CoreShare& share,
                      bool fixed_inputs);
  void plan_flushes(std::span<const Stage> stages, Bytes cold_bytes);
  void cache_flush(Bytes size_bytes);
  void produce(const Item& item);
  void make_recordings();
  void queue_timed(std::size_t position);
  void sweep_host(std::span<double> ms);
  void sweep_device(std::span<double> ms);

  const CoarseGraph& coarse;
  const Model& model;
  Backend& backend;
  TensorSource& source;
  std::unique_ptr<Buffer> fixed, tensors, flushed;
  std::vector<Bound> operators;
  std::vector<std::unique_ptr<CacheFlush>> flushes;  // one a core
  std::vector<BoundGroup> flush_groups;
  std::vector<CoreShare> flush_shares, all_cores;
  std::unique_ptr<ClockMarks> marks;  // null: a host backend
  std::vector<Item> items;
};

// The operators outside the stage whose outputs it reads, in topological order.
std::vector<OpId> StageBatch::State::producers(const Stage& stage) const {
  std::vector<bool> inside(coarse.graph.size(), false), read(coarse.graph.size(), false);
  for (const Group& group : stage.groups) {
    for (const OpId op : group) {
      inside[op.index()] = true;
      for (const EdgeId edge : coarse.graph.in_edges(op)) {
        read[coarse.graph.edge(edge).from.index()] = true;
      }
    }
  }
  std::vector<OpId> result;
  for (const OpId op : coarse.graph.topological()) {
    if (read[op.index()] && !inside[op.index()]) result.push_back(op);
  }
  return result;
}

// The memory of all outputs that are there while the stage runs.
OutputRegions StageBatch::State::outputs(const Stage& stage) const {
  std::vector<OpId> all = producers(stage);
  for (const Group& group : stage.groups) all.insert(all.end(), group.begin(), group.end());
  return OutputRegions(coarse, all);
}

std::vector<std::size_t> StageBatch::State::in_topological_order(
    std::span<const Stage> stages) const {
  std::vector<std::size_t> position(coarse.graph.size());
  for (std::size_t i = 0; i < position.size(); ++i) {
    position[coarse.graph.topological()[i].index()] = i;
  }
  const auto first = [&](std::size_t index) {
    std::size_t least = position.size();
    for (const Group& group : stages[index].groups) {
      for (const OpId op : group) least = std::min(least, position[op.index()]);
    }
    return least;
  };
  std::vector<std::size_t> order(stages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return first(a) < first(b); });
  return order;
}

void StageBatch::State::allocate(std::span<const Stage> stages) {
  Bytes most = 0;
  for (const Stage& stage : stages) most = std::max(most, outputs(stage).all_bytes());
  tensors = backend.allocate(most, "the tensors of the measured stages");

  std::int64_t largest = 0;
  for (const Tensor& tensor : model.tensors()) {
    largest = std::max(largest, tensor.shape.elements());
  }
  std::vector<float> values(static_cast<std::size_t>(largest));
  fixed =
      backend.allocate(values.size() * coarse.element_bytes, "the inputs of the measured stages");
  Random random(0);
  for (float& value : values) {
    value = static_cast<float>(random.uniform(-std::sqrt(3.0), std::sqrt(3.0)));  // unit variance
  }
  write_floats(backend, fixed->data(), values);
}

void StageBatch::State::make_flushes(Bytes cold_bytes) {
  const auto cores = static_cast<std::size_t>(std::max(1, backend.threads()));
  const Bytes share = aligned_size(cold_bytes / cores);
  all_cores = core_shares(1, backend.threads());
  flush_shares = core_shares(cores, backend.threads());
  if (share == 0) return;
  flushed = backend.allocate(share * cores, "the bytes that drive weights out of the caches");
  fill(backend, flushed->data(), share * cores, std::byte{1});
  for (std::size_t core = 0; core < cores; ++core) {
    flushes.push_back(
        backend.bind_cache_flush({flushed->data() + core * share, share}, flush_shares[core]));
    flush_groups.push_back({flushes.back().get()});
  }
}

BoundOperator* StageBatch::State::bind(OpId op, const OutputRegions& outputs,
                                       const CoreShare& share, bool fixed_inputs) {
  std::vector<const std::byte*> inputs;
  for (const TensorId tensor : coarse.layers(op).inputs) {
    const auto producer = coarse.producer_for(tensor, op);
    if (producer && !fixed_inputs) {
      inputs.push_back(tensors->data() + outputs.offset(*producer) +
                       coarse.distance(*producer, tensor, op));
    } else {
      inputs.push_back(fixed->data() +
                       (producer ? 0 : coarse.distance_from_input(model, tensor, op)));
    }
  }
  operators.push_back({op, share,
                       bind_operator(coarse, model, op, backend, inputs,
                                     tensors->data() + outputs.offset(op), share, source)});
  return operators.back().bound.get();
}

Item StageBatch::State::make_item(std::size_t index, const Stage& stage) {
  Item item{index, 0, {}, {}, core_shares(stage.groups.size(), backend.threads()), nullptr};
  const OutputRegions all = outputs(stage);
  for (const OpId op : producers(stage)) {
    item.produce.push_back(bind(op, all, all_cores.front(), true));
  }
  for (std::size_t g = 0; g < stage.groups.size(); ++g) {
    BoundGroup group;
    for (const OpId op : stage.groups[g]) group.push_back(bind(op, all, item.shares[g], false));
    item.groups.push_back(std::move(group));
  }
  return item;
}

// Walks two sweeps and counts the bytes that are touched. The second sweep's flushes are those of
// every sweep.
void StageBatch::State::plan_flushes(std::span<const Stage> stages, Bytes cold_bytes) {
  Bytes touched = 0;
  std::vector<std::optional<Bytes>> last(coarse.graph.size());
  const auto touch = [&](OpId op) {
    touched += coarse.graph.op(op).memory_bytes + coarse.graph.op(op).parameter_bytes;
    last[op.index()] = touched;
  };
  for (int sweep = 0; sweep < 2; ++sweep) {
    for (Item& item : items) {
      const Stage& stage = stages[item.index];
      Bytes since = cold_bytes;
      for (const Group& group : stage.groups) {
        for (const OpId op : group) {
          if (last[op.index()]) since = std::min(since, touched - *last[op.index()]);
        }
      }
      item.flush_bytes = cold_bytes - since;
      touched += item.flush_bytes;
      for (const OpId op : producers(stage)) touch(op);
      for (const Group& group : stage.groups) {
        for (const OpId op : group) touch(op);
      }
    }
  }
}

void StageBatch::State::cache_flush(Bytes size_bytes) {
  for (const auto& one : flushes) one->set_size(size_bytes / flushes.size());
  backend.run_stage(flush_groups, flush_shares, nullptr, nullptr);
}

void StageBatch::State::produce(const Item& item) {
  if (item.produce.empty()) return;
  backend.run_stage({&item.produce, 1}, all_cores, nullptr, nullptr);
}

void StageBatch::State::make_recordings() {
  marks = backend.make_marks(2 * items.size());
  for (std::size_t position = 0; position < items.size(); ++position) {
    items[position].recording = backend.record([&] { queue_timed(position); });
  }
}

void StageBatch::State::queue_timed(std::size_t position) {
  const Item& item = items[position];
  produce(item);
  marks->mark(start_mark(position));
  backend.run_stage(item.groups, item.shares, nullptr, nullptr);
  marks->mark(end_mark(position));
}

void StageBatch::State::sweep_host(std::span<double> ms) {
  for (const Item& item : items) {
    if (item.flush_bytes > 0) cache_flush(item.flush_bytes);
    produce(item);
    const Stopwatch stopwatch;
    backend.run_stage(item.groups, item.shares, nullptr, nullptr);
    ms[item.index] = stopwatch.ms();
  }
}

void StageBatch::State::sweep_device(std::span<double> ms) {
  for (std::size_t position = 0; position < items.size(); ++position) {
    const Item& item = items[position];
    if (item.flush_bytes > 0) cache_flush(item.flush_bytes);
    if (item.recording) {
      item.recording->replay();
    } else {
      queue_timed(position);
    }
  }
  backend.synchronize();
  for (std::size_t position = 0; position < items.size(); ++position) {
    ms[items[position].index] = marks->ms(start_mark(position), end_mark(position));
  }
}

StageBatch::StageBatch(const RankContext& rank, std::span<const Stage> stages, Bytes cold_bytes)
    : state_(std::make_unique<State>(rank)) {
  State& state = *state_;
  state.allocate(stages);
  state.make_flushes(cold_bytes);
  for (const std::size_t index : state.in_topological_order(stages)) {
    state.items.push_back(state.make_item(index, stages[index]));
  }
  state.plan_flushes(stages, cold_bytes);
  if (rank.backend.accelerator()) state.make_recordings();
}

StageBatch::~StageBatch() = default;

std::vector<StageBatch::Bound> StageBatch::take_operators() {
  state_->items.clear();  // their recordings use the operators
  return std::move(state_->operators);
}

double StageBatch::sweep(std::span<double> ms) {
  if (state_->marks) {
    state_->sweep_device(ms);
  } else {
    state_->sweep_host(ms);
  }
  return std::accumulate(ms.begin(), ms.end(), 0.0);
}

}  // namespace hios
