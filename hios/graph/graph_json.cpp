#include "hios/graph/graph_json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_map>
#include <utility>

#include "hios/base/error.h"
#include "hios/graph/parameters.h"

// An operator's `extra` carries its signature and block, which only our own programs use. With them
// a graph that is written and read back keeps its digest, so a schedule of one fits the other.
namespace hios {
namespace {

using IdsByName = std::unordered_map<std::string, OpId>;

std::string read_label(const JsonView& view) {
  std::string label = view.string();
  if (label.empty()) view.fail("must not be empty");
  return label;
}

Bytes read_bytes(const JsonView& view) { return static_cast<Bytes>(view.integer(0, kMaxBytes)); }

/// Reads times whose keys are numbers of inputs ("16"), up to all of them.
std::map<std::int64_t, double> read_times_by_size(const JsonView& view, std::int64_t inputs) {
  std::map<std::int64_t, double> times;
  for (const auto& [key, time] : view.members()) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), size);
    if (error != std::errc() || end != key.data() + key.size() || size < 1 || size > inputs ||
        std::to_string(size) != key) {
      time.fail("its key must be a number of inputs, 1 to " + std::to_string(inputs));
    }
    times.emplace(size, time.number(0, kMaxMs));
  }
  if (times.empty()) view.fail("names no number of inputs; give one a time");
  return times;
}

void read_time(const JsonView& view, std::int64_t inputs, Operator& op) {
  if (!view.is_object()) {
    op.time_ms = view.number(0, kMaxMs);
    op.has_time = true;
    return;
  }
  for (const auto& [device, time] : view.members()) {
    if (time.is_object()) {
      op.time_by_size.emplace(device, read_times_by_size(time, inputs));
    } else {
      op.time_by_device.emplace(device, time.number(0, kMaxMs));
    }
  }
  if (op.time_by_device.empty() && op.time_by_size.empty()) {
    view.fail("names no device; give one a time");
  }
}

/// Reads the name of an operator's parameters, and its costs when it reads them in place.
void read_parameters(ObjectReader& reader, Operator& op) {
  if (const auto bytes = reader.optional("parameter_bytes"))
    op.parameter_bytes = read_bytes(*bytes);
  if (const auto label = reader.optional("parameters")) {
    op.parameters = read_label(*label);
    if (op.parameter_bytes == 0) {
      label->fail("names parameters of no bytes; give parameter_bytes, or remove it");
    }
  }
  const auto time = reader.optional("in_place_ms");
  if (time && time->is_object()) {
    for (const auto& [device, ms] : time->members()) {
      op.in_place_by_device.emplace(device, ms.number(0, kMaxMs));
    }
    if (op.in_place_by_device.empty()) time->fail("names no device; give one a time");
  } else if (time) {
    op.in_place_ms = time->number(0, kMaxMs);
  }
  const auto bytes = reader.optional("in_place_bytes");
  if (bytes && !time) bytes->fail("needs in_place_ms, too");
  if (bytes) op.in_place_bytes = read_bytes(*bytes);
}

void read_extra(const JsonView& view, Operator& op) {
  if (!view.is_object()) return;
  ObjectReader extra(view);
  const auto signature = extra.optional("signature");
  const auto block = extra.optional("block");
  if (signature && signature->is_string()) op.signature = signature->string();
  if (block && block->is_string()) op.block = block->string();
}

Operator read_operator(const JsonView& view, std::int64_t inputs) {
  ObjectReader reader(view);
  Operator op;
  op.name = read_label(reader.required("name"));
  if (const auto time = reader.optional("time_ms")) read_time(*time, inputs, op);
  if (const auto share = reader.optional("utilization")) {
    op.utilization = share->number(0, 1);
    if (op.utilization == 0) share->fail("must be above 0: an operator fills part of a device");
  }
  if (const auto memory = reader.optional("memory_bytes")) op.memory_bytes = read_bytes(*memory);
  read_parameters(reader, op);
  if (const auto label = reader.optional("colocate")) op.colocate = read_label(*label);
  if (const auto allowed = reader.optional("allowed")) {
    for (const JsonView& device : allowed->array()) op.allowed.push_back(read_label(device));
    if (op.allowed.empty()) allowed->fail("allows no device; name one, or remove the key");
  }
  if (const auto extra = reader.optional("extra")) read_extra(*extra, op);
  reader.finish();
  return op;
}

OpId read_end(const JsonView& view, const IdsByName& ids) {
  const auto found = ids.find(view.string());
  if (found == ids.end()) {
    view.fail("no operator is named '" + printable(view.string()) + "'; name one of $.operators");
  }
  return found->second;
}

/// Reads `transfer_ms` as an object: times by sender and receiver.
std::shared_ptr<const PairTimes> read_pair_times(const JsonView& view) {
  PairTimes times;
  for (const auto& [sender, receivers] : view.members()) {
    auto& of_sender = times[sender];
    for (const auto& [receiver, ms] : receivers.members()) {
      of_sender.emplace(receiver, ms.number(0, kMaxMs));
    }
    if (of_sender.empty()) receivers.fail("names no receiver; give one a time");
  }
  if (times.empty()) view.fail("names no sender; give one a receiver and a time");
  return std::make_shared<const PairTimes>(std::move(times));
}

ByteRange read_range(const JsonView& view, Bytes size_bytes) {
  const std::vector<JsonView> ends = view.array();
  if (ends.size() != 2) view.fail("is no [begin, end) of bytes");
  const ByteRange range{read_bytes(ends[0]), read_bytes(ends[1])};
  if (range.end < range.begin || range.size() != size_bytes) {
    view.fail("must have as many bytes as the edge: " + std::to_string(size_bytes));
  }
  return range;
}

Edge read_edge(const JsonView& view, const IdsByName& ids) {
  ObjectReader reader(view);
  Edge edge;
  edge.from = read_end(reader.required("from"), ids);
  edge.to = read_end(reader.required("to"), ids);
  if (edge.from == edge.to) view.fail("leads from an operator to itself; remove it");
  const auto time = reader.optional("transfer_ms");
  if (time && time->is_object()) {
    edge.transfer_by_pair = read_pair_times(*time);
  } else if (time) {
    edge.transfer_ms = time->number(0, kMaxMs);
  }
  // An edge without a time of its own needs its bytes, from which a link's time follows.
  const auto bytes = time ? reader.optional("bytes") : reader.required("bytes");
  if (bytes) edge.size_bytes = read_bytes(*bytes);
  if (const auto range = reader.optional("range")) edge.range = read_range(*range, edge.size_bytes);
  reader.finish();
  return edge;
}

StageCostRule read_stage_cost(const JsonView& view) {
  ObjectReader reader(view);
  StageCostRule rule;
  const JsonView kind = reader.required("kind");
  if (kind.string() == "overlap") {
    rule.kind = StageCostRule::Kind::kOverlap;
    if (const auto weight = reader.optional("weight")) rule.weight = weight->number(0, 1);
  } else if (kind.string() != "serial") {
    kind.fail("'" + printable(kind.string()) + "' is unknown; use \"serial\" or \"overlap\"");
  }
  reader.finish();
  return rule;
}

Json time_json(const Operator& op) {
  if (op.time_by_device.empty() && op.time_by_size.empty()) return op.time_ms;
  if (op.has_time) {
    throw InputError("operator '" + printable(op.name) +
                     "' has a time for all devices and times by device; a graph file holds one");
  }
  Json times = Json::object();
  for (const auto& [device, ms] : op.time_by_device) times[device] = ms;
  for (const auto& [device, by_size] : op.time_by_size) {
    for (const auto& [size, ms] : by_size) times[device][std::to_string(size)] = ms;
  }
  return times;
}

void add_parameters(Json& json, const Operator& op) {
  if (op.parameter_bytes != 0) json["parameter_bytes"] = op.parameter_bytes;
  if (!op.parameters.empty()) json["parameters"] = op.parameters;
  if (op.in_place_ms && !op.in_place_by_device.empty()) {
    throw InputError("operator '" + printable(op.name) +
                     "' has an in_place_ms for all devices and others by device; a graph file "
                     "holds one");
  }
  if (op.in_place_ms) json["in_place_ms"] = *op.in_place_ms;
  for (const auto& [device, ms] : op.in_place_by_device) json["in_place_ms"][device] = ms;
  if (op.in_place_bytes) json["in_place_bytes"] = *op.in_place_bytes;
}

Json to_json(const Operator& op) {
  Json json{{"name", op.name}};
  if (op.has_time || !op.time_by_device.empty() || !op.time_by_size.empty()) {
    json["time_ms"] = time_json(op);
  }
  json["utilization"] = op.utilization;
  json["memory_bytes"] = op.memory_bytes;
  add_parameters(json, op);
  if (!op.colocate.empty()) json["colocate"] = op.colocate;
  if (!op.allowed.empty()) json["allowed"] = op.allowed;
  Json extra = Json::object();
  if (!op.signature.empty()) extra["signature"] = op.signature;
  if (!op.block.empty()) extra["block"] = op.block;
  if (!extra.empty()) json["extra"] = std::move(extra);
  return json;
}

Json pair_times_json(const PairTimes& times) {
  Json json = Json::object();
  for (const auto& [sender, receivers] : times) {
    Json& of_sender = json[sender] = Json::object();
    for (const auto& [receiver, ms] : receivers) of_sender[receiver] = ms;
  }
  return json;
}

Json stage_cost_json(const StageCostRule& rule) {
  if (rule.kind == StageCostRule::Kind::kSerial) return {{"kind", "serial"}};
  return {{"kind", "overlap"}, {"weight", rule.weight}};
}

}  // namespace

Graph graph_from_json(const JsonView& root) {
  ObjectReader reader = open_format(root, "hios-graph");
  std::string name = read_label(reader.required("name"));
  std::int64_t inputs = 1;
  if (const auto view = reader.optional("inputs")) inputs = view->integer(1, kMostInputs);

  const JsonView operators_view = reader.required("operators");
  std::vector<Operator> operators;
  IdsByName ids;
  if (operators_view.is_array()) operators.reserve(operators_view.json().size());
  for (const JsonView& view : operators_view.array()) {
    Operator op = read_operator(view, inputs);
    if (!ids.emplace(op.name, OpId(operators.size())).second) {
      view.fail("an earlier operator is named '" + printable(op.name) + "' too; rename one");
    }
    operators.push_back(std::move(op));
  }
  if (operators.empty()) operators_view.fail("needs at least one operator");

  std::vector<Edge> edges;
  const JsonView edges_view = reader.required("edges");
  if (edges_view.is_array()) edges.reserve(edges_view.json().size());
  for (const JsonView& view : edges_view.array()) edges.push_back(read_edge(view, ids));
  ids = {};
  StageCostRule stage_cost;
  if (const auto view = reader.optional("stage_cost")) stage_cost = read_stage_cost(*view);
  reader.finish();
  Graph graph;
  try {
    graph = Graph(std::move(name), std::move(operators), std::move(edges), stage_cost, inputs);
  } catch (const InputError& error) {
    edges_view.fail(error.what());
  }
  try {
    (void)ParameterSets(graph);
  } catch (const InputError& error) {
    operators_view.fail(error.what());
  }
  return graph;
}

Json to_json(const Graph& graph) {
  Json operators = Json::array();
  for (const Operator& op : graph.operators()) operators.push_back(to_json(op));
  Json edges = Json::array();
  for (const Edge& edge : graph.edges()) {
    Json json{{"from", graph.op(edge.from).name},
              {"to", graph.op(edge.to).name},
              {"bytes", edge.size_bytes}};
    if (edge.transfer_ms) {
      json["transfer_ms"] = *edge.transfer_ms;
    } else if (edge.transfer_by_pair) {
      json["transfer_ms"] = pair_times_json(*edge.transfer_by_pair);
    }
    if (edge.range) json["range"] = {edge.range->begin, edge.range->end};
    edges.push_back(std::move(json));
  }
  Json json{{"format", "hios-graph"},    {"version", kFormatVersion},
            {"name", graph.name()},      {"operators", std::move(operators)},
            {"edges", std::move(edges)}, {"stage_cost", stage_cost_json(graph.stage_cost())}};
  if (graph.inputs() > 1) json["inputs"] = graph.inputs();
  return json;
}

}  // namespace hios
