#include "support/networks/random_network.h"
#include "hios/schedule/schedule_json.h"

#include <algorithm>
#include <string>

#include "hios/base/json/json_io.h"
#include "hios/base/numbers/random.h"
#include "hios/platform/platform.h"

namespace hios::test {
namespace {

// The inputs of a new operator: mostly recent tensors, so that lifetimes are short and slots are
// reused; sometimes any.
std::vector<TensorId> random_inputs(const std::vector<TensorId>& known, Random& random) {
  std::vector<TensorId> inputs;
  const std::size_t count = 1 + random.below(3);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t back = random.below(4) == 0
                                 ? random.below(known.size())
                                 : random.below(std::min<std::size_t>(4, known.size()));
    inputs.push_back(known[known.size() - 1 - back]);
  }
  return inputs;
}

}  // namespace

RandomNetwork random_network(std::size_t operators, std::uint64_t seed, Bytes element_bytes) {
  Random random(seed, "network");
  const auto extent = static_cast<std::int64_t>(1 + random.below(4));
  ModelBuilder builder("random_" + std::to_string(seed), {1, 3, extent, extent});
  std::vector<TensorId> known{builder.input()};
  std::vector<std::vector<LayerId>> all_layers;
  std::vector<Operator> described;
  std::vector<Edge> edges;
  std::vector<std::optional<OpId>> producer_of(1);
  for (std::size_t i = 0; i < operators; ++i) {
    const std::string name = "op_" + std::to_string(i);
    std::vector<LayerId>& layers = all_layers.emplace_back();
    const std::vector<TensorId> inputs = random_inputs(known, random);
    TensorId x = inputs.front();
    if (inputs.size() > 1) {
      x = builder.concat(name + "_concat", inputs);
      layers.push_back(LayerId(producer_of.size() - 1));
      producer_of.push_back(OpId(i));
    }
    const auto channels = static_cast<std::int64_t>(1 + random.below(40));
    Conv conv;
    conv.out_channels = channels;
    conv.padding = {0, 0};
    const TensorId output = builder.conv(name, x, conv);
    layers.push_back(LayerId(producer_of.size() - 1));
    producer_of.push_back(OpId(i));
    for (const TensorId input : inputs) {
      const auto from = producer_of[input.index()];
      if (from)
        edges.push_back({*from, OpId(i), builder.shape(input).size_bytes(element_bytes), {}});
    }
    Operator op;
    op.name = name;
    op.signature = "conv " + builder.shape(x).to_string() + " to " + std::to_string(channels);
    op.memory_bytes = builder.shape(output).size_bytes(element_bytes);
    described.push_back(op);
    known.push_back(output);
  }
  Graph graph("random", std::move(described), std::move(edges));
  Model model = std::move(builder).build();
  std::vector<OperatorLayers> fused;
  for (std::vector<LayerId>& layers : all_layers) fused.push_back(fuse(model, std::move(layers)));
  return {std::move(model),
          {std::move(graph), std::move(fused), std::move(producer_of), element_bytes}};
}

RandomNetwork with_parameters(RandomNetwork network) {
  const Graph& graph = network.coarse.graph;
  std::vector<Operator> described(graph.operators().begin(), graph.operators().end());
  for (std::size_t v = 0; v < described.size(); ++v) {
    described[v].in_place_ms = 1;
    for (const LayerId id : network.coarse.layers(OpId(v)).layers) {
      const Layer& layer = network.model.layer(id);
      described[v].parameter_bytes +=
          static_cast<Bytes>(parameters(layer.kind, layer.input_shapes)) *
          network.coarse.element_bytes;
    }
  }
  network.coarse.graph =
      Graph(graph.name(), std::move(described), {graph.edges().begin(), graph.edges().end()});
  return network;
}

// Stages are made one after the other for random devices, of operators that are ready: all their
// inputs are made by earlier stages or earlier in their own group. So groups cannot depend on each
// other, and no two devices can wait for each other.
Schedule random_schedule(const Graph& graph, std::size_t devices, std::size_t max_groups,
                         std::uint64_t seed) {
  Random random(seed, "schedule");
  Schedule schedule;
  schedule.devices.resize(devices);
  constexpr std::size_t kNowhere = SIZE_MAX, kEarlier = SIZE_MAX - 1;
  std::vector<std::size_t> made(graph.size(), kNowhere);  // or the group of the stage in the making
  const auto ready = [&](OpId op, std::size_t group) {
    return made[op.index()] == kNowhere &&
           std::ranges::all_of(graph.in_edges(op), [&](EdgeId edge) {
             const std::size_t by = made[graph.edge(edge).from.index()];
             return by == kEarlier || by == group;
           });
  };
  for (std::size_t left = graph.size(); left > 0;) {
    Stage stage;
    const std::size_t groups = 1 + random.below(max_groups);
    for (std::size_t g = 0; g < groups; ++g) {
      Group group;
      for (std::size_t length = 1 + random.below(3); length > 0; --length) {
        std::vector<OpId> candidates;
        for (const OpId op : graph.topological()) {
          if (ready(op, g)) candidates.push_back(op);
        }
        if (candidates.empty()) break;
        group.push_back(candidates[random.below(candidates.size())]);
        made[group.back().index()] = g;
        --left;
      }
      if (!group.empty()) stage.groups.push_back(std::move(group));
    }
    for (const Group& group : stage.groups) {
      for (const OpId op : group) made[op.index()] = kEarlier;
    }
    schedule.devices[random.below(devices)].push_back(std::move(stage));
  }
  return schedule;
}

std::string random_schedule_text(const Model& model, std::size_t devices, std::uint64_t seed) {
  const CoarseGraph coarse = coarsen(model);
  const Shape& input = model.tensor(model.input()).shape;
  const Platform platform = Platform::homogeneous(devices, "cpu", 1, 1);
  ScheduleFile file;
  file.graph_name = coarse.graph.name();
  file.graph_digest = coarse.graph.digest();
  file.batch = input.n;
  file.height = input.h;
  file.width = input.w;
  file.algorithm = "random";
  file.devices.assign(platform.devices().begin(), platform.devices().end());
  file.schedule = random_schedule(coarse.graph, devices, 1, seed);
  return to_text(to_json(file, coarse.graph));
}

}  // namespace hios::test
