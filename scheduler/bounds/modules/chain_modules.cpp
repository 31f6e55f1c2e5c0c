#include "scheduler/bounds/modules/chain_modules.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "scheduler/structures/graph_partition.h"

// A branch that is a chain becomes one chain. Of any other subgraph, each operator continues the
// chain of the input that ends last, unless another operator did before; edges between chains only
// count in the least times before and after a chain. Edges that lead over a separator are dropped.
// The paths that are left are some of the graph's, so the longest of them is still a lower bound.

namespace hios::scheduler {
namespace {

constexpr std::uint32_t kNoNumber = std::numeric_limits<std::uint32_t>::max();

class ModuleBuilder {
 public:
  ModuleBuilder(const BoundGraph& graph, const ClassCosts& costs)
      : graph_(graph),
        costs_(costs),
        module_of_(graph.size(), kNoNumber),
        first_edge_(graph.size() + 1, 0),
        head_(graph.size(), 0),
        tail_(graph.size(), 0),
        chain_of_(graph.size(), 0) {
    for (const ClassEdge& edge : costs.edges) ++first_edge_[edge.to + 1];
    for (std::size_t v = 0; v < graph.size(); ++v) first_edge_[v + 1] += first_edge_[v];
  }

  /// Adds the module of these operators, whose exit is added later.
  void add(std::optional<std::uint32_t> entry, std::vector<std::uint32_t> between) {
    for (std::uint32_t v : between) module_of_[v] = static_cast<std::uint32_t>(modules_.size());
    modules_.push_back({entry, std::nullopt, {}, {}});
    between_.push_back(std::move(between));
  }

  void end_with(std::uint32_t exit) { modules_.back().exit = exit; }

  std::vector<ChainModule> run() {
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      for (std::uint32_t v : between_[m]) continue_chain(modules_[m], v);
      find_tails(between_[m]);
      for (ModuleChain& chain : modules_[m].chains) {
        chain.before_ms = head_[chain.operators.front()];
        chain.after_ms = tail_[chain.operators.back()];
        chain.edges.push_back(nullptr);
      }
      if (modules_[m].exit) connect_exit(m);
    }
    return std::move(modules_);
  }

 private:
  template <class Visit>
  void each_input(std::uint32_t v, Visit visit) const {
    for (std::size_t e = first_edge_[v]; e < first_edge_[v + 1]; ++e) visit(costs_.edges[e]);
  }

  /// Keeps the most expensive of the edges with the same ends.
  static void keep_longer(const ClassEdge*& kept, const ClassEdge& edge) {
    if (!kept || edge.least_ms > kept->least_ms) kept = &edge;
  }

  /// Appends the operator to the chain of an input, or begins a chain.
  void continue_chain(ChainModule& module, std::uint32_t v) {
    const ClassEdge* from_entry = nullptr;
    const ClassEdge* from_chain = nullptr;
    const auto end_ms = [&](const ClassEdge& edge) {
      return head_[edge.from] + graph_.path_ms[edge.from];
    };
    each_input(v, [&](const ClassEdge& edge) {
      if (module.entry && edge.from == *module.entry) keep_longer(from_entry, edge);
      if (module_of_[edge.from] != module_of_[v]) return;
      head_[v] = std::max(head_[v], end_ms(edge));
      if (module.chains[chain_of_[edge.from]].operators.back() != edge.from) return;
      if (!from_chain || end_ms(edge) > end_ms(*from_chain)) from_chain = &edge;
      if (edge.from == from_chain->from) keep_longer(from_chain, edge);
    });
    if (from_chain) {
      chain_of_[v] = chain_of_[from_chain->from];
    } else {
      chain_of_[v] = module.chains.size();
      module.chains.emplace_back();
    }
    ModuleChain& chain = module.chains[chain_of_[v]];
    chain.operators.push_back(v);
    chain.edges.push_back(from_chain ? from_chain : from_entry);
  }

  void find_tails(const std::vector<std::uint32_t>& between) {
    for (auto v = between.rbegin(); v != between.rend(); ++v) {
      each_input(*v, [&](const ClassEdge& edge) {
        if (module_of_[edge.from] != module_of_[*v]) return;
        tail_[edge.from] = std::max(tail_[edge.from], tail_[*v] + graph_.path_ms[*v]);
      });
    }
  }

  void connect_exit(std::size_t m) {
    ChainModule& module = modules_[m];
    each_input(*module.exit, [&](const ClassEdge& edge) {
      if (module.entry && edge.from == *module.entry) module.direct.push_back(&edge);
      if (module_of_[edge.from] != m) return;
      ModuleChain& chain = module.chains[chain_of_[edge.from]];
      if (chain.operators.back() == edge.from) keep_longer(chain.edges.back(), edge);
    });
  }

  const BoundGraph& graph_;
  const ClassCosts& costs_;
  std::vector<std::uint32_t> module_of_;  // by operator; kNoNumber: a separator
  std::vector<std::size_t> first_edge_;   // by operator: its first input in the costs' edges
  std::vector<double> head_, tail_;       // by operator: least times inside its module
  std::vector<std::size_t> chain_of_;     // by operator: its chain's index in its module
  std::vector<ChainModule> modules_;
  std::vector<std::vector<std::uint32_t>> between_;  // by module, in topological order
};

}  // namespace

std::vector<ChainModule> chain_modules(const Graph& graph, const BoundGraph& of,
                                       const ClassCosts& costs) {
  std::vector<std::uint32_t> number(graph.size(), kNoNumber);
  for (std::size_t v = 0; v < of.size(); ++v) {
    number[of.ops[v].index()] = static_cast<std::uint32_t>(v);
  }
  ModuleBuilder builder(of, costs);
  std::optional<std::uint32_t> entry;
  std::vector<std::uint32_t> between;
  bool open = false;  // operators or a separator wait for the module's end
  for (const auto& subgraph :
       partition_graph(graph, std::numeric_limits<std::size_t>::max()).subgraphs) {
    if (subgraph.size() > 1) {
      for (OpId op : subgraph) between.push_back(number[op.index()]);
      open = true;
      continue;
    }
    const std::uint32_t separator = number[subgraph.front().index()];
    if (open) {
      builder.add(entry, std::exchange(between, {}));
      builder.end_with(separator);
    }
    entry = separator;
    open = true;
  }
  if (!between.empty()) builder.add(entry, std::move(between));
  return builder.run();
}

}  // namespace hios::scheduler
