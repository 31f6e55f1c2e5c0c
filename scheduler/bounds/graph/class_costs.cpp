#include "scheduler/bounds/graph/class_costs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "scheduler/structures/numbers.h"

// A platform has few classes of devices, so that costs by class are a small table. Costs of edges
// are stored by the data that decide them, as those of the cost model are.

namespace hios::scheduler {
namespace {

using ClassDevices = std::vector<DeviceId>;

double capacity_of(const BoundContext& context, DeviceId device) {
  const Bytes limit = context.costs.platform().device(device).memory_bytes;
  return limit == 0 ? kInfinity : static_cast<double>(limit);
}

bool is_allowed(const BoundGraph& graph, std::size_t v, DeviceId device) {
  const auto& able = graph.allowed->devices(graph.ops[v]);
  return std::binary_search(able.begin(), able.end(), device);
}

bool same_class(const BoundGraph& graph, const BoundContext& context, DeviceId a, DeviceId b) {
  if (capacity_of(context, a) != capacity_of(context, b)) return false;
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (is_allowed(graph, v, a) != is_allowed(graph, v, b)) return false;
    if (!is_allowed(graph, v, a)) continue;
    const OpId op = graph.ops[v];
    if (context.shares.path_ms(op, a) != context.shares.path_ms(op, b) ||
        context.shares.work_ms(op, a) != context.shares.work_ms(op, b) ||
        context.shares.window_ms(op, a) != context.shares.window_ms(op, b)) {
      return false;
    }
  }
  return true;
}

bool runs_any(const BoundGraph& graph, DeviceId device) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    if (is_allowed(graph, v, device)) return true;
  }
  return false;
}

/// Returns the devices that can run an operator, by class, or nothing where there are more than
/// kMostClasses.
std::vector<ClassDevices> classes_of(const BoundGraph& graph, const BoundContext& context) {
  std::vector<ClassDevices> classes;
  for (std::size_t d = 0; d < context.costs.platform().size(); ++d) {
    const DeviceId device(d);
    if (!runs_any(graph, device)) continue;
    const auto known = std::find_if(classes.begin(), classes.end(), [&](const ClassDevices& own) {
      return same_class(graph, context, own.front(), device);
    });
    if (known != classes.end()) {
      known->push_back(device);
    } else if (classes.size() == kMostClasses) {
      return {};
    } else {
      classes.push_back({device});
    }
  }
  return classes;
}

void add_shares(const BoundGraph& graph, const BoundContext& context,
                const std::vector<ClassDevices>& classes, ClassCosts& into) {
  for (std::size_t v = 0; v < graph.size(); ++v) {
    const OpId op = graph.ops[v];
    for (const ClassDevices& own : classes) {
      const bool runs = is_allowed(graph, v, own.front());
      into.path_ms.push_back(runs ? context.shares.path_ms(op, own.front()) : kInfinity);
      into.work_ms.push_back(runs ? context.shares.work_ms(op, own.front()) : kInfinity);
      into.window_ms.push_back(runs ? context.shares.window_ms(op, own.front()) : kInfinity);
    }
    const Operator& o = context.graph.op(op);
    into.bytes.push_back(static_cast<double>(o.memory_bytes) +
                         static_cast<double>(o.parameter_bytes));
  }
}

std::vector<double> transfers_between(const CostModel& costs, EdgeId edge,
                                      const std::vector<ClassDevices>& classes) {
  std::vector<double> least;
  for (const ClassDevices& from : classes) {
    for (const ClassDevices& to : classes) {
      double ms = kInfinity;
      for (DeviceId sender : from) {
        for (DeviceId receiver : to) {
          if (sender != receiver) ms = std::min(ms, costs.transfer_ms(edge, sender, receiver));
        }
      }
      least.push_back(ms);
    }
  }
  return least;
}

/// Returns the minimum over two different classes.
double least_of(const std::vector<double>& table, std::size_t classes) {
  double least = kInfinity;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i / classes != i % classes) least = std::min(least, table[i]);
  }
  return least;
}

/// Adds the costs of edges, and keeps a table for edges with the same costs.
class EdgeTables {
 public:
  EdgeTables(const BoundContext& context, const std::vector<ClassDevices>& classes,
             ClassCosts& into)
      : context_(context), classes_(classes), into_(into) {}

  void add(EdgeId edge, std::uint32_t from, std::uint32_t to, bool must_share) {
    const std::optional<double> same = context_.costs.transfer_ms(edge);
    if (same || must_share) {
      into_.edges.push_back({from, to, must_share, same.value_or(0), ClassEdge::kSame});
      return;
    }
    const Edge& e = context_.graph.edge(edge);
    const Key key(e.transfer_by_pair.get(), e.transfer_ms.value_or(-1), e.size_bytes);
    const auto [known, is_new] = tables_.emplace(key, into_.transfers.size());
    if (is_new && entries() + classes_.size() * classes_.size() > kMostEntries) {
      tables_.erase(known);  // 0 is below every cost
      into_.edges.push_back({from, to, must_share, 0, ClassEdge::kSame});
      return;
    }
    if (is_new) into_.transfers.push_back(transfers_between(context_.costs, edge, classes_));
    const double least = least_of(into_.transfers[known->second], classes_.size());
    into_.edges.push_back({from, to, must_share, least, known->second});
  }

 private:
  using Key = std::tuple<const void*, double, Bytes>;

  static constexpr std::size_t kMostEntries = 2'000'000;

  std::size_t entries() const { return into_.transfers.size() * classes_.size() * classes_.size(); }

  const BoundContext& context_;
  const std::vector<ClassDevices>& classes_;
  ClassCosts& into_;
  std::map<Key, std::size_t> tables_;
};

}  // namespace

bool ClassCosts::runs(std::size_t v, std::size_t k) const {
  return path_ms[cell(v, k)] < kInfinity;
}

double work_for(const ClassCosts& costs) {
  // Some hundred operators converge with it. Those of 20,000 would not within seconds.
  const auto operators = static_cast<double>(costs.operators);
  return std::min(3e7 + 6e5 * operators, 1e8 + 1e12 / std::max(operators, 1.0));
}

double quick_work_for(const ClassCosts& costs) {
  return std::min(1e8, 1e6 + 2e4 * static_cast<double>(costs.operators));
}

double serial_ms(const ClassCosts& costs) {
  double sum = 0;
  for (std::size_t v = 0; v < costs.operators; ++v) {
    double most = 0;
    for (std::size_t k = 0; k < costs.classes(); ++k) {
      if (costs.runs(v, k)) most = std::max(most, costs.path_ms[costs.cell(v, k)]);
    }
    sum += most;
  }
  for (const ClassEdge& edge : costs.edges) sum += edge.least_ms;
  return sum;
}

std::optional<ClassCosts> class_costs(const BoundGraph& graph, const BoundContext& context) {
  constexpr std::size_t kMostCells = 2'000'000;
  const std::vector<ClassDevices> classes = classes_of(graph, context);
  if (classes.size() < 2 || graph.size() * classes.size() > kMostCells) return std::nullopt;
  ClassCosts result;
  result.operators = graph.size();
  for (const ClassDevices& own : classes) {
    result.count.push_back(static_cast<double>(own.size()));
    result.capacity.push_back(capacity_of(context, own.front()));
    result.devices.push_back(own);
  }
  add_shares(graph, context, classes, result);
  std::vector<std::uint32_t> number(context.graph.size());
  for (std::size_t v = 0; v < graph.size(); ++v) {
    number[graph.ops[v].index()] = static_cast<std::uint32_t>(v);
  }
  EdgeTables tables(context, classes, result);
  for (std::size_t v = 0; v < graph.size(); ++v) {
    for (EdgeId e : context.graph.in_edges(graph.ops[v])) {
      const Edge& edge = context.graph.edge(e);
      tables.add(e, number[edge.from.index()], static_cast<std::uint32_t>(v),
                 context.allowed.must_share(edge.from, edge.to));
    }
  }
  return result;
}

}  // namespace hios::scheduler
