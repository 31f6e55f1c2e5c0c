#include "hios/graph/random/random_dag.h"

#include <algorithm>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/random/families.h"

// A family decides a network's structure (hios/graph/random/families.h). Costs are drawn here,
// alike for all families, and hios/graph/random/devices.cpp makes the devices differ.
//
// Structure and costs come from separate streams of random numbers: neither other costs (p) nor
// devices change the structure. Edges are sorted by consumer, then by producer.
// tests/hios/graph/random/random_dag_test.cpp checks the costs and pins the numbers.
namespace hios {
namespace families {
namespace {

constexpr double kMinTimeMs = 0.1;
constexpr double kMaxTimeMs = 4;
constexpr double kMinUtilization = 0.6;
constexpr double kMinTransferMs = 0.1;

/// Returns the beginning of a network's name; that of the paper's family is older than the others.
std::string prefix(const Row& row) {
  return row.family == RandomDag::Family::kLayered ? "dag" : std::string(row.name);
}

std::vector<Operator> draw_operators(Structure& structure, Random& costs) {
  std::vector<Operator> operators(structure.operators);
  for (std::size_t v = 0; v < operators.size(); ++v) {
    operators[v].name = structure.names.empty() ? std::string("v").append(std::to_string(v))
                                                : std::move(structure.names[v]);
    operators[v].time_ms = costs.uniform(kMinTimeMs, kMaxTimeMs);
    operators[v].has_time = true;
    operators[v].utilization = costs.uniform(kMinUtilization, 1);
  }
  return operators;
}

}  // namespace

GraphDraft draw_graph(const RandomDag& parameters) {
  check(parameters);
  const Row& row = row_of(parameters.family);
  Random random(parameters.seed, "random_dag structure");
  Structure structure = row.draw(parameters, random);
  std::sort(structure.edges.begin(), structure.edges.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second, a.first) < std::pair(b.second, b.first);
  });

  Random costs(parameters.seed, "random_dag costs");
  GraphDraft draft{.name = prefix(row) + "-" + std::to_string(structure.operators) + "-" +
                           std::to_string(parameters.seed),
                   .operators = draw_operators(structure, costs),
                   .edges = {},
                   .stage_cost = {StageCostRule::Kind::kOverlap, 0.5}};
  draft.edges.reserve(structure.edges.size());
  for (const auto& [u, v] : structure.edges) {
    const bool by_producer = parameters.transfer == RandomDag::Transfer::kProducer;
    const double time_ms = draft.operators[by_producer ? u : v].time_ms;
    const double transfer_ms = std::max(kMinTransferMs, parameters.p * time_ms);
    draft.edges.push_back({OpId(u), OpId(v), 0, transfer_ms});
  }
  if (row.set_costs != nullptr) row.set_costs(parameters, draft);
  return draft;
}

Graph assembled(GraphDraft draft) {
  return Graph(std::move(draft.name), std::move(draft.operators), std::move(draft.edges),
               draft.stage_cost);
}

}  // namespace families

std::size_t RandomDag::edges_at_most() const {
  return families::row_of(family).edges_at_most(*this);
}

Graph random_dag(const RandomDag& parameters) {
  if (parameters.devices != RandomDevices()) {
    throw InputError(
        "random network: this is only the network, without devices; leave speeds, spread, memory, "
        "allowed and colocate out");
  }
  families::GraphDraft draft = families::draw_graph(parameters);
  families::draw_parameters(draft, parameters);
  families::draw_in_place(draft, parameters);
  return families::assembled(std::move(draft));
}

}  // namespace hios
