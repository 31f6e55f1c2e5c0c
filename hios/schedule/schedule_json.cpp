#include "hios/schedule/schedule_json.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/model/tensor.h"
#include "hios/platform/device_json.h"
#include "hios/profile/stage_json.h"
#include "hios/schedule/prediction_json.h"
#include "hios/schedule/weights_json.h"

// A schedule that another author wrote by hand needs no more than the graph's digest and the
// devices with their stages.
namespace hios {
namespace {

constexpr double kMaxSeconds = 1e12;

constexpr std::array kOutcomes = {Outcome::kOptimal, Outcome::kFeasible, Outcome::kInfeasible,
                                  Outcome::kTimeLimit};

Outcome read_outcome(const JsonView& view) {
  const std::string text = view.string();
  std::string known;
  for (const Outcome outcome : kOutcomes) {
    if (text == to_string(outcome)) return outcome;
    known += (known.empty() ? "" : ", ") + std::string(to_string(outcome));
  }
  view.fail("must be one of " + known + ", not " + quote(text));
}

/// The graph that a file was made for.
struct GraphHead {
  std::string name, digest;
  std::int64_t batch = 0, height = 0, width = 0;
  Merge merge = Merge::kNone;
  Cuts cuts = {};
};

/// Returns '"inception_v3" (batch 1, 299x299)'; for a research DAG, the name alone.
std::string describe(const GraphHead& head) {
  std::string text = quote(head.name);
  if (head.batch > 0) {
    text += " (batch " + std::to_string(head.batch) + ", " + std::to_string(head.height) + "x" +
            std::to_string(head.width) + ")";
  }
  return text;
}

GraphHead read_graph(const JsonView& view) {
  ObjectReader reader(view);
  GraphHead head;
  head.name = reader.required("name").string();
  head.digest = reader.required("digest").string();
  const auto extent = [&](std::string_view key) {
    const auto value = reader.optional(key);
    return value ? value->integer(0, kMaxExtent) : 0;
  };
  head.batch = extent("batch");
  head.height = extent("height");
  head.width = extent("width");
  if (const auto merge = reader.optional("merge")) head.merge = merge_from_json(*merge);
  if (const auto cuts = reader.optional("cuts")) head.cuts = cut_list_from_json(*cuts);
  reader.finish();
  return head;
}

/// Calls `each(device, view of its stages)` for every device of a file.
template <class Each>
void read_devices(const JsonView& view, const Each& each) {
  std::set<std::string> names;
  for (const JsonView& device_view : view.array()) {
    ObjectReader reader(device_view);
    Device device = read_device(reader, IfAbsent::kRefused);
    if (!names.insert(device.name).second) {
      device_view.fail("device " + quote(device.name) + " is there twice; rename one");
    }
    const JsonView stages = reader.required("stages");
    reader.finish();
    each(std::move(device), stages);
  }
  if (names.empty()) view.fail("one device at least is needed");
}

/// An operator in a schedule: "conv_3", or on some of the inputs {"operator": "conv_3", "inputs":
/// [0, 4]}.
struct NamedBatch {
  std::string name;
  std::optional<InputRange> inputs;
};

InputRange read_inputs(const JsonView& view) {
  const std::vector<JsonView> ends = view.array();
  if (ends.size() != 2)
    view.fail("must be two numbers, the first input and the one after the last");
  const InputRange inputs{ends[0].integer(0, kMaxExtent), ends[1].integer(0, kMaxExtent)};
  if (inputs.size() < 1) view.fail("holds no input");
  return inputs;
}

NamedBatch read_batch(const JsonView& view) {
  if (!view.is_object()) return {view.string(), {}};
  ObjectReader reader(view);
  NamedBatch batch{reader.required("operator").string(), read_inputs(reader.required("inputs"))};
  reader.finish();
  return batch;
}

OpId find_operator(const JsonView& view, const std::string& name, const Graph& graph) {
  const auto op = graph.find(name);
  if (op) return *op;
  view.fail("the graph " + quote(graph.name()) + " has no operator " + quote(name) +
            "; schedule it again");
}

OpId find_batch(const JsonView& view, const NamedBatch& batch, const Graph& graph) {
  const Batching* const batching = graph.batching();
  if (!batching) {
    if (batch.inputs)
      view.fail("runs some of the inputs, and a schedule of all inputs at a time is needed");
    return find_operator(view, batch.name, graph);
  }
  const OpId op = find_operator(view, batch.name, *batching->whole);
  const InputRange inputs = batch.inputs.value_or(InputRange{0, batching->inputs});
  const auto [first, end] = batching->batches_of(op);
  for (std::size_t v = first.index(); v < end.index(); ++v) {
    if (batching->batches[v].inputs == inputs) return OpId(v);
  }
  view.fail("no batch of " + quote(batch.name) + " is of inputs " + to_string(inputs));
}

OpId read_operator(const JsonView& view, const Graph& graph) {
  return find_batch(view, read_batch(view), graph);
}

std::vector<Stage> read_stages(const JsonView& view, const Graph& graph) {
  std::vector<Stage> stages;
  for (const JsonView& stage : view.array()) {
    stages.push_back(
        {read_groups(stage, [&](const JsonView& name) { return read_operator(name, graph); })});
  }
  return stages;
}

std::vector<PlannedTransfer> read_transfers(const JsonView& view, const Graph& graph,
                                            const std::vector<Device>& devices) {
  std::vector<PlannedTransfer> transfers;
  std::map<std::string_view, DeviceId> by_name;
  for (std::size_t d = 0; d < devices.size(); ++d) by_name.emplace(devices[d].name, DeviceId(d));
  for (const JsonView& element : view.array()) {
    ObjectReader reader(element);
    const JsonView producer_view = reader.required("operator");
    NamedBatch batch{producer_view.string(), {}};
    if (const auto inputs = reader.optional("inputs")) batch.inputs = read_inputs(*inputs);
    const OpId producer = find_batch(producer_view, batch, graph);
    const JsonView to = reader.required("to");
    const auto device = by_name.find(to.string());
    if (device == by_name.end()) {
      to.fail("no device is named " + quote(to.string()) + "; name one of $.devices");
    }
    reader.finish();
    transfers.push_back({producer, device->second});
  }
  return transfers;
}

void check_digest(const JsonView& view, const GraphHead& head, const Graph& graph) {
  if (head.digest == graph.digest()) return;
  throw InputError(
      view.where() + ": the schedule is for graph " + describe(head) + " with digest " +
          quote(head.digest) + ", but this one is " + quote(graph.name()) + " with digest " +
          quote(graph.digest()) +
          "; give the graph or model, batch, size, fusion, merge and cuts that it was made for",
      need::ScheduleOfGraph{});
}

Objective read_objective(const JsonView& view) {
  const std::string name = view.string();
  for (const Objective objective :
       {Objective::kLatency, Objective::kThroughput, Objective::kColdStart}) {
    if (name == to_string(objective)) return objective;
  }
  view.fail("must be \"latency\", \"throughput\" or \"cold-start\", not " + quote(name));
}

/// Reads the keys that say how the schedule was made.
void read_making(ObjectReader& reader, ScheduleFile& file) {
  if (const auto algorithm = reader.optional("algorithm")) file.algorithm = algorithm->string();
  if (const auto options = reader.optional("options")) {
    if (!options->is_object()) options->fail("must be an object");
    file.options = options->json();
  }
  if (const auto outcome = reader.optional("outcome")) file.outcome = read_outcome(*outcome);
  if (const auto seconds = reader.optional("seconds"))
    file.seconds = seconds->number(0, kMaxSeconds);
  if (const auto objective = reader.optional("objective")) {
    file.objective = read_objective(*objective);
  }
}

/// Reads "stores" and "weights". REQUIRES: the devices were read.
void read_cold_start(ObjectReader& reader, const Graph& graph, ScheduleFile& file) {
  const auto stores = reader.optional("stores");
  const auto weights = reader.optional("weights");
  if (stores) file.stores = stores_from_json(*stores, file.devices);
  if (weights && file.objective == Objective::kThroughput) {
    weights->fail("are for a cold start, and the objective is throughput; remove one of the two");
  }
  if (weights) {
    file.schedule.weights = weights_from_json(*weights, graph, file.devices, file.stores);
  } else if (stores) {
    stores->fail("are for $.weights, which is not there; remove them, or give it");
  } else if (file.objective == Objective::kColdStart) {
    reader.view().fail(
        "the objective is cold-start, and there is no \"weights\"; give it, or "
        "remove the objective");
  }
}

Json graph_json(const ScheduleFile& file) {
  Json json = {{"name", file.graph_name}, {"digest", file.graph_digest}};
  if (file.batch > 0) {
    json["batch"] = file.batch;
    json["height"] = file.height;
    json["width"] = file.width;
  }
  if (!file.merge.none()) json["merge"] = to_json(file.merge);
  if (!file.cuts.empty()) json["cuts"] = cut_list_to_json(file.cuts);
  return json;
}

/// Returns an operator's entry in a stage (see NamedBatch).
Json operator_json(const Graph& graph, OpId op) {
  const Batching* const batching = graph.batching();
  if (!batching) return graph.op(op).name;
  const auto& [whole, inputs] = batching->of(op);
  const std::string& name = batching->whole->op(whole).name;
  if (inputs.size() == batching->inputs) return name;
  return {{"operator", name}, {"inputs", {inputs.begin, inputs.end}}};
}

Json stage_json(const Graph& graph, const Stage& stage) {
  Json groups = Json::array();
  for (const Group& group : stage.groups) {
    Json& operators = groups.emplace_back(Json::array());
    for (const OpId op : group) operators.push_back(operator_json(graph, op));
  }
  return groups;
}

Json transfer_json(const Graph& graph, OpId producer, const std::string& to) {
  const Json named = operator_json(graph, producer);
  Json json = named.is_object() ? named : Json{{"operator", named}};
  json["to"] = to;
  return json;
}

}  // namespace

ScheduleFile schedule_from_json(const JsonView& root, const Graph& graph) {
  ObjectReader reader = open_format(root, "hios-schedule");
  const JsonView graph_view = reader.required("graph");
  GraphHead head = read_graph(graph_view);
  check_digest(graph_view.find("digest")->second, head, graph);

  ScheduleFile file;
  file.graph_name = std::move(head.name);
  file.graph_digest = std::move(head.digest);
  file.batch = head.batch;
  file.height = head.height;
  file.width = head.width;
  file.merge = head.merge;
  file.cuts = std::move(head.cuts);
  read_making(reader, file);
  read_devices(reader.required("devices"), [&](Device device, const JsonView& stages) {
    file.devices.push_back(std::move(device));
    file.schedule.devices.push_back(read_stages(stages, graph));
  });
  if (const auto transfers = reader.optional("transfers")) {
    file.schedule.transfers = read_transfers(*transfers, graph, file.devices);
  }
  read_cold_start(reader, graph, file);
  const auto predicted = reader.optional("predicted");
  file.has_prediction = predicted.has_value();
  if (predicted) file.predicted = read_prediction(*predicted);
  if (predicted && file.predicted.throughput && file.objective != Objective::kThroughput) {
    predicted->fail("has a period_ms, and the objective is not throughput");
  }
  if (const auto extra = reader.optional("extra")) file.extra = extra->json();
  reader.finish();
  return file;
}

Json to_json(const ScheduleFile& file, const Graph& graph) {
  Json devices = Json::array();
  for (std::size_t i = 0; i < file.devices.size(); ++i) {
    Json stages = Json::array();
    for (const Stage& stage : file.schedule.devices[i]) {
      stages.push_back(stage_json(graph, stage));
    }
    Json device = device_json(file.devices[i]);
    device["stages"] = std::move(stages);
    devices.push_back(std::move(device));
  }
  const std::vector<PlannedTransfer>& transfers = file.schedule.transfers;
  Json json = {{"format", "hios-schedule"},    {"version", kFormatVersion},
               {"graph", graph_json(file)},    {"algorithm", file.algorithm},
               {"options", file.options},      {"outcome", std::string(to_string(file.outcome))},
               {"seconds", file.seconds},      {"objective", to_string(file.objective)},
               {"devices", std::move(devices)}};
  for (const PlannedTransfer& transfer : transfers) {
    const std::string& to = file.devices[transfer.to.index()].name;
    json["transfers"].push_back(transfer_json(graph, transfer.producer, to));
  }
  if (const auto& weights = file.schedule.weights) {
    if (!file.stores.empty()) json["stores"] = stores_json(file.stores);
    json["weights"] = weights_json(*weights, graph, file.devices, file.stores);
  }
  if (file.has_prediction) json["predicted"] = prediction_json(file.predicted, graph);
  if (!file.extra->empty()) json["extra"] = file.extra;
  return json;
}

std::vector<Batch> schedule_batches(const JsonView& root, const Graph& whole, std::int64_t inputs) {
  ObjectReader reader = open_format(root, "hios-schedule");
  const JsonView graph_view = reader.required("graph");
  check_digest(graph_view.find("digest")->second, read_graph(graph_view), whole);
  std::vector<Batch> batches;
  bool divided = false;
  const auto note = [&](const JsonView& view) {
    const NamedBatch batch = read_batch(view);
    if (batch.inputs && batch.inputs->end > inputs) {
      view.fail("runs inputs " + to_string(*batch.inputs) + ", and there are " +
                std::to_string(inputs));
    }
    divided = divided || batch.inputs;
    batches.push_back(
        {find_operator(view, batch.name, whole), batch.inputs.value_or(InputRange{0, inputs})});
    return batches.back().op;
  };
  read_devices(reader.required("devices"), [&](const Device&, const JsonView& stages) {
    for (const JsonView& stage : stages.array()) read_groups(stage, note);
  });
  if (!divided) return {};
  std::sort(batches.begin(), batches.end());
  return batches;
}

ScheduleHead schedule_head(const JsonView& root) {
  ObjectReader reader = open_format(root, "hios-schedule");
  GraphHead graph = read_graph(reader.required("graph"));
  ScheduleHead head;
  head.graph_name = std::move(graph.name);
  head.batch = graph.batch;
  head.height = graph.height;
  head.width = graph.width;
  head.cuts = std::move(graph.cuts);
  const JsonView devices = reader.required("devices");
  read_devices(devices,
               [&](Device device, const JsonView&) { head.devices.push_back(std::move(device)); });
  try {
    (void)Platform(head.devices);
  } catch (const InputError& error) {
    devices.fail(error.what());
  }
  return head;
}

void check_merge(const JsonView& root, const Graph& graph, const Merge& merge) {
  ObjectReader reader = open_format(root, "hios-schedule");
  const JsonView view = reader.required("graph");
  const GraphHead head = read_graph(view);
  if (head.merge == merge || head.digest == graph.digest()) return;
  const auto words = [](const Merge& made) {
    if (made.none()) return std::string("apart");
    return made.all ? "merged" : "merged in " + to_string(made);
  };
  const bool both = !head.merge.none() && !merge.none();
  throw InputError(view.where() + ": the schedule was made with sibling convolutions " +
                       words(head.merge) + ", and this model's are " +
                       (both ? (merge.all ? "all merged" : "merged by other sets")
                             : (merge.none() ? "not" : "merged")),
                   need::SameMerge{head.merge.sets.empty() ? to_string(head.merge) : root.file()});
}

}  // namespace hios
