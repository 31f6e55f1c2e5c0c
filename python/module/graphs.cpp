#include "python/module/graphs.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/graph/graph.h"
#include "hios/graph/graph_json.h"
#include "hios/graph/random/random_dag.h"
#include "hios/graph/random/random_dag_text.h"

namespace hios::python {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

/// Columns of operators and of edges. An empty column: none has that number.
struct Columns {
  std::vector<double> times_ms, utilization;
  std::vector<Bytes> memory_bytes;
  std::vector<std::uint32_t> from, to;
  std::vector<double> transfers_ms;
  std::vector<Bytes> edge_bytes;
};

/// Throws InputError where a column has neither no values nor one for each.
template <class Value>
void check_length(const std::vector<Value>& column, std::size_t wanted, const char* name) {
  if (column.empty() || column.size() == wanted) return;
  throw InputError(std::string(name) + " has " + std::to_string(column.size()) + " values; give " +
                   std::to_string(wanted));
}

std::vector<Operator> operators_of(std::vector<std::string> names, const Columns& columns) {
  const std::size_t count = names.size();
  check_length(columns.times_ms, count, "times_ms");
  check_length(columns.utilization, count, "utilization");
  check_length(columns.memory_bytes, count, "memory_bytes");
  std::vector<Operator> operators(count);
  for (std::size_t i = 0; i < count; ++i) {
    Operator& op = operators[i];
    op.name = std::move(names[i]);
    op.has_time = !columns.times_ms.empty();
    if (op.has_time) op.time_ms = columns.times_ms[i];
    if (!columns.utilization.empty()) op.utilization = columns.utilization[i];
    if (!columns.memory_bytes.empty()) op.memory_bytes = columns.memory_bytes[i];
  }
  return operators;
}

std::vector<Edge> edges_of(const Columns& columns) {
  const std::size_t count = columns.from.size();
  if (columns.to.size() != count) throw InputError("an edge needs two ends");
  check_length(columns.transfers_ms, count, "transfers_ms");
  check_length(columns.edge_bytes, count, "edge_bytes");
  std::vector<Edge> edges(count);
  for (std::size_t i = 0; i < count; ++i) {
    edges[i].from = OpId(columns.from[i]);
    edges[i].to = OpId(columns.to[i]);
    if (!columns.transfers_ms.empty()) edges[i].transfer_ms = columns.transfers_ms[i];
    if (!columns.edge_bytes.empty()) edges[i].size_bytes = columns.edge_bytes[i];
  }
  return edges;
}

std::shared_ptr<Graph> graph_of(std::string name, std::vector<std::string> names,
                                std::vector<double> times_ms, std::vector<std::uint32_t> from,
                                std::vector<std::uint32_t> to, std::vector<double> transfers_ms,
                                std::vector<Bytes> edge_bytes, std::vector<Bytes> memory_bytes,
                                std::vector<double> utilization,
                                std::optional<double> overlap_weight) {
  const Columns columns{std::move(times_ms),  std::move(utilization), std::move(memory_bytes),
                        std::move(from),      std::move(to),          std::move(transfers_ms),
                        std::move(edge_bytes)};
  StageCostRule rule;
  if (overlap_weight) rule = {StageCostRule::Kind::kOverlap, *overlap_weight};
  return std::make_shared<Graph>(std::move(name), operators_of(std::move(names), columns),
                                 edges_of(columns), rule);
}

std::shared_ptr<Graph> read_graph(const std::string& file) {
  const Json json = read_json(file);
  return std::make_shared<Graph>(graph_from_json(JsonView(json, file)));
}

std::vector<std::string> operator_names_of(const Graph& graph) {
  std::vector<std::string> names;
  names.reserve(graph.size());
  for (const Operator& op : graph.operators()) names.push_back(op.name);
  return names;
}

std::vector<std::pair<std::size_t, std::size_t>> edge_ends_of(const Graph& graph) {
  std::vector<std::pair<std::size_t, std::size_t>> ends;
  ends.reserve(graph.edge_count());
  for (const Edge& edge : graph.edges()) ends.emplace_back(edge.from.index(), edge.to.index());
  return ends;
}

std::vector<std::size_t> topological_of(const Graph& graph) {
  std::vector<std::size_t> order;
  order.reserve(graph.size());
  for (const OpId op : graph.topological()) order.push_back(op.index());
  return order;
}

/// Returns the time on any device, where it is the same for all.
std::vector<std::optional<double>> times_of(const Graph& graph) {
  std::vector<std::optional<double>> times;
  times.reserve(graph.size());
  for (const Operator& op : graph.operators()) {
    times.push_back(op.has_time ? std::optional(op.time_ms) : std::nullopt);
  }
  return times;
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<Graph>(module, "Graph")
      .def_prop_ro("name", &Graph::name)
      .def_prop_ro("digest", &Graph::digest)
      .def_prop_ro("operator_count", &Graph::size)
      .def_prop_ro("overlaps",
                   [](const Graph& graph) {
                     return graph.stage_cost().kind == StageCostRule::Kind::kOverlap;
                   })
      .def("operators", &operator_names_of)
      .def("edges", &edge_ends_of)
      .def("topological", &topological_of)
      .def("times_ms", &times_of)
      .def(
          "write",
          [](const Graph& graph, const std::string& file, bool replace) {
            write_json(file, to_json(graph), replace ? Existing::kReplace : Existing::kRefuse);
          },
          "file"_a, "replace"_a);
  module.def("graph", &graph_of, "name"_a, "names"_a, "times_ms"_a, "from_"_a, "to"_a,
             "transfers_ms"_a, "edge_bytes"_a, "memory_bytes"_a, "utilization"_a,
             "overlap_weight"_a.none());
  module.def(
      "random_graph",
      [](const std::string& text) {
        return std::make_shared<Graph>(random_dag(parse_random_dag(text)));
      },
      "text"_a);
  module.def("read_graph", &read_graph, "file"_a);
  // The format that a JSON file says it has; empty: none.
  module.def(
      "format_of",
      [](const std::string& file) {
        const Json json = read_json(file);
        const auto format = json.is_object() ? json.find("format") : json.end();
        return format != json.end() && format->is_string() ? format->get<std::string>()
                                                           : std::string();
      },
      "file"_a);
}

}  // namespace hios::python
