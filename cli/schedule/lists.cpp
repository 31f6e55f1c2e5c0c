#include "cli/schedule/lists.h"

#include <nlohmann/json.hpp>

#include "cli/process/output.h"
#include "cli/table.h"
#include "hios/graph/model_summary.h"
#include "hios/model/networks/networks.h"

namespace hios::cli {

namespace {

using scheduler::Algorithm;

std::string uses(const Algorithm& algorithm) {
  return std::string(algorithm.many_devices ? "several devices" : "one device") +
         (algorithm.streams ? ", several streams" : ", one stream");
}

std::vector<std::string> objectives(const Algorithm& algorithm) {
  std::vector<std::string> names = {std::string(to_string(algorithm.objective))};
  if (algorithm.run_throughput) names.emplace_back(to_string(Objective::kThroughput));
  return names;
}

std::string objectives_text(const Algorithm& algorithm) {
  std::string text;
  for (const std::string& name : objectives(algorithm))
    text += (text.empty() ? "" : " and ") + name;
  return text;
}

std::string text(const Algorithm& algorithm) {
  const auto line = [](std::string name, const std::string& rest) {
    name.resize(std::max<std::size_t>(name.size(), 12), ' ');
    return name + " " + rest + "\n";
  };
  std::string lines = line(algorithm.name, algorithm.description);
  lines += line("", "for " + objectives_text(algorithm) + "; uses " + uses(algorithm) + "; " +
                        algorithm.constraints);
  lines += line("", "links that contend: " + algorithm.contention);
  for (const std::string& option : split(Options(algorithm.options).help(), '\n')) {
    if (!option.empty()) lines += line("", option);
  }
  return lines;
}

Json json(const OptionSpec& option) {
  Json described = {{"name", option.name}, {"help", option.help}};
  std::visit([&](const auto& value) { described["default"] = value; }, option.default_value);
  const Json& value = described["default"];
  if (value.is_number()) {
    described["min"] = option.min;
    described["max"] = option.max;
  }
  return described;
}

Json json(const Algorithm& algorithm) {
  Json options = Json::array();
  for (const OptionSpec& option : algorithm.options) options.push_back(json(option));
  return {{"name", algorithm.name},
          {"description", algorithm.description},
          {"objectives", objectives(algorithm)},
          {"many_devices", algorithm.many_devices},
          {"streams", algorithm.streams},
          {"constraints", algorithm.constraints},
          {"contention", algorithm.contention},
          {"options", options}};
}

}  // namespace

int list_algorithms(const Common& common, const scheduler::Registry& registry) {
  Table table({"algorithm", "description", "objectives", "many_devices", "streams", "constraints",
               "contention"});
  Json list = Json::array();
  for (const Algorithm& algorithm : registry.all()) {
    show(text(algorithm));
    table.add({algorithm.name, algorithm.description, std::string(to_string(algorithm.objective)),
               algorithm.many_devices ? "true" : "false", algorithm.streams ? "true" : "false",
               algorithm.constraints, algorithm.contention});
    list.push_back(json(algorithm));
  }
  if (common.csv) write_text(*common.csv, table.csv(), common.existing);
  if (common.json) write_json(*common.json, {{"algorithms", list}}, common.existing);
  return 0;
}

int list_models(const Common& common) {
  Table table({"model", "input", "operators", "dependencies", "GFLOP", "parameters",
               "largest tensor", "MB"});
  Json list = Json::array();
  for (const models::Entry& entry : models::all()) {
    const Model model = entry.build(1, entry.default_size, entry.default_size);
    const ModelSummary summary = summarize(model);
    table.add({summary.name, model.tensor(model.input()).shape.to_string(),
               std::to_string(summary.operators), std::to_string(summary.dependencies),
               fixed(summary.gflop, 2), std::to_string(summary.parameters), summary.largest_tensor,
               fixed(static_cast<double>(summary.largest_tensor_bytes) / 1e6, 2)});
    list.push_back({{"name", summary.name},
                    {"operators", summary.operators},
                    {"dependencies", summary.dependencies},
                    {"gflop", summary.gflop},
                    {"parameters", summary.parameters}});
  }
  show(table.text(line_width()));
  if (common.csv) write_text(*common.csv, table.csv(), common.existing);
  if (common.json) write_json(*common.json, {{"models", list}}, common.existing);
  return 0;
}

int list_operators(const Common& common, const Network& network) {
  Table table({"operator", "layers", "output", "MFLOP", "weights KB"});
  Table csv({"operator", "kind", "output", "mflop", "weights_bytes", "signature", "layers"});
  Json list = Json::array();
  const Model& model = network.model;
  for (std::size_t i = 0; i < network.coarse.graph.size(); ++i) {
    const OpId id(i);
    const Operator& op = network.coarse.graph.op(id);
    const OperatorLayers& layers = network.coarse.layers(id);
    std::string kind, names;
    Json nodes = Json::array();
    for (const LayerId layer : layers.layers) {
      kind += (kind.empty() ? "" : "+") + std::string(onnx_type(model.layer(layer).kind));
      names += (names.empty() ? "" : ";") + model.layer(layer).name;
      nodes.push_back(model.layer(layer).name);
    }
    const Shape& output = model.tensor(layers.output).shape;
    const double mflop = flop(model, layers) / 1e6;
    const auto weights = static_cast<double>(op.parameter_bytes);
    table.add({op.name, kind, output.to_string(), fixed(mflop, 2), fixed(weights / 1e3, 1)});
    csv.add({op.name, kind, output.to_string(), exact(mflop), std::to_string(op.parameter_bytes),
             op.signature, names});
    list.push_back({{"name", op.name},
                    {"kind", kind},
                    {"shape", {output.n, output.c, output.h, output.w}},
                    {"mflop", mflop},
                    {"weights_bytes", op.parameter_bytes},
                    {"signature", op.signature},
                    {"layers", nodes}});
  }
  show(table.text(line_width()));
  if (common.csv) write_text(*common.csv, csv.csv(), common.existing);
  if (common.json) {
    Json outputs = Json::array();
    for (const NamedOutput& output : model.named_outputs())
      outputs.push_back({{"name", output.name}, {"dims", output.dims}});
    Json inputs = Json::array();
    for (const NamedInput& input : model.named_inputs()) {
      inputs.push_back({{"name", input.name}, {"dims", input.dims}});
      if (input.below > 0) inputs.back()["below"] = input.below;
    }
    // The name and the extents of a single input stand next to the shape, too.
    const Shape& shape = model.tensor(model.input()).shape;
    Json input = inputs.size() == 1 ? inputs.front() : Json::object();
    input["shape"] = {shape.n, shape.c, shape.h, shape.w};
    write_json(*common.json,
               {{"model", model.name()},
                {"digest", network.coarse.graph.digest()},
                {"input", input},
                {"inputs", inputs},
                {"outputs", outputs},
                {"operators", list}},
               common.existing);
  }
  return 0;
}

}  // namespace hios::cli
