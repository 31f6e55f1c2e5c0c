#include "support/networks/random_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/job/verification.h"
#include "engine/reference/backend.h"
#include "engine/run/executor.h"
#include "hios/base/error.h"
#include "mpi/exchange.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios::test {
namespace {

constexpr std::uint64_t kWeightsOfCuts = 11;
constexpr std::size_t kInferences = 2;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return least +
         static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
}

/// Returns ascending places inside an extent.
std::vector<std::int64_t> places_to_cut(Random& random, std::int64_t extent) {
  std::vector<std::int64_t> at;
  const std::int64_t shards = between(random, 2, std::min<std::int64_t>(4, extent));
  for (std::int64_t i = 1; i < shards; ++i) {
    at.push_back(between(random, at.empty() ? 1 : at.back() + 1, extent - (shards - i)));
  }
  return at;
}

Conv random_conv(Random& random, const Shape& input) {
  Conv conv;
  conv.out_channels = 8 * between(random, 1, 4);
  if (random.below(4) > 0) {
    conv.kernel = {between(random, 1, 3), between(random, 1, 3)};
    conv.stride = {between(random, 1, 2), between(random, 1, 2)};
    conv.dilation = {between(random, 1, 2), 1};
    conv.padding = Padding(Extent{between(random, 0, 1), between(random, 0, 1)},
                           Extent{between(random, 0, 1), between(random, 0, 1)});
  }
  if (random.below(4) == 0) conv.groups = conv.out_channels = input.c;
  conv.bias = random.below(2) == 0;
  return conv;
}

/// Adds one random layer that reads `x`.
TensorId add_random_layer(ModelBuilder& net, const std::string& name, TensorId x,
                          const std::vector<TensorId>& all, Random& random) {
  const Shape shape = net.shape(x);
  std::vector<TensorId> like;
  for (const TensorId id : all) {
    if (net.shape(id) == shape) like.push_back(id);
  }
  const TensorId other = like[random.below(like.size())];
  switch (random.below(9)) {
    case 0:
      return net.relu(name, x);
    case 1:
      return net.sum(name, {x, other});
    case 2:
      return shape.c > 64 ? net.relu(name, x) : net.concat(name, {x, other});
    case 3:
      return net.pool(name, x,
                      {random.below(2) == 0 ? Pool::Kind::kMax : Pool::Kind::kAverage,
                       {std::min<std::int64_t>(3, shape.h), std::min<std::int64_t>(3, shape.w)},
                       {1, 1},
                       {1, 1}});
    case 4:
      return net.add(name, Binary{Binary::Function::kMul, Shape{1, shape.c, 1, 1}, false}, {x});
    case 5:
      return net.add(name, Binary{Binary::Function::kAdd, {}, false},
                     {x, net.global_average_pool(name + "_mean", other)});
    default:
      return net.conv(name, x, random_conv(random, shape));
  }
}

}  // namespace

Network cut_network(const Model& model, const Cuts& cuts) {
  FusionRules rules;
  rules.cuts = cuts;
  return Network(model, 4, rules);
}

Cuts random_cuts(const Model& model, Random& random) {
  Cuts cuts;
  const Network whole(model);
  for (std::size_t i = 0; i < whole.coarse.graph.size(); ++i) {
    const Shape& shape = whole.model.tensor(whole.coarse.operators[i].output).shape;
    const Axis axis = random.below(2) == 0 ? Axis::kH : Axis::kC;
    const std::int64_t extent = axis == Axis::kH ? shape.h : shape.c;
    if (extent < 2 || random.below(4) == 0) continue;
    Cut cut{whole.coarse.graph.op(OpId(i)).name, places_to_cut(random, extent), 0, axis};
    if (axis == Axis::kH) cut.overlap = between(random, 0, 2);
    try {
      (void)cut_network(model, {cut});
    } catch (const InputError&) {
      continue;
    }
    cuts.push_back(std::move(cut));
  }
  return cuts;
}

Model random_layers(std::size_t layers, Random& random) {
  ModelBuilder net("random", {1, 8 * between(random, 1, 2), between(random, 5, 20), 7});
  std::vector<TensorId> all{net.relu("x", net.input())};
  for (std::size_t i = 0; all.size() < layers; ++i) {
    const TensorId from = all[all.size() - 1 - random.below(std::min<std::size_t>(3, all.size()))];
    try {
      all.push_back(add_random_layer(net, "layer_" + std::to_string(i), from, all, random));
    } catch (const InputError&) {  // a window that is larger than the image
    }
  }
  return std::move(net).build();
}

NamedOutputs outputs_alone(const Network& whole) {
  SeededSource source(kWeightsOfCuts);
  const auto judge = reference::make_backend({});
  const std::vector<int> threads(whole.coarse.graph.size(), 1);
  const job::OneRankRun alone(whole.coarse, whole.model, *judge, threads, source, "");
  NamedOutputs outputs;
  for (std::size_t i = 0; i < whole.coarse.operators.size(); ++i) {
    if (!whole.coarse.is_output(OpId(i))) continue;
    outputs[whole.model.tensor(whole.coarse.operators[i].output).name] = alone.output(OpId(i));
  }
  return outputs;
}

void expect_outputs(const NamedOutputs& expected, const Network& cut, std::uint64_t seed,
                    mpi::Transport& transport) {
  const std::size_t ranks = transport.size();
  const Schedule schedule = random_schedule(cut.coarse.graph, ranks, 2, seed);
  const RankPlan plan = plan_rank(cut.coarse, schedule, transport.rank(), {});
  const auto backend = reference::make_backend({});
  SeededSource source(kWeightsOfCuts);
  Executor executor({cut.coarse, cut.model, *backend, transport, source}, plan);
  std::size_t compared = 0;
  for (std::size_t inference = 0; inference < kInferences; ++inference) {
    transport.barrier();
    executor.run_once();
    for (const Slot& slot : plan.slots) {
      if (slot.received || !cut.coarse.is_output(slot.op)) continue;
      const std::string& name = cut.model.tensor(cut.coarse.layers(slot.op).output).name;
      const auto wanted = expected.find(name);
      if (wanted == expected.end()) continue;
      EXPECT_TRUE(job::compare(executor.output(slot.op), wanted->second, {0, 0}).bitwise)
          << name << " on rank " << transport.rank().index() << " of " << ranks;
      ++compared;
    }
  }
  std::size_t on_all = 0;
  for (const std::size_t on_rank : mpi::gather(transport, compared)) on_all += on_rank;
  EXPECT_EQ(on_all, kInferences * expected.size());
}

void expect_cut_ranks_like(const Network& whole, const Network& cut, std::uint64_t seed) {
  const NamedOutputs expected = outputs_alone(whole);
  ThreadOptions delays;
  delays.seed = seed;
  delays.max_delay_ms = 0.05;
  run_ranks(
      1 + seed % 4,
      [&](mpi::Transport& transport) { expect_outputs(expected, cut, seed, transport); }, delays);
}

}  // namespace hios::test
