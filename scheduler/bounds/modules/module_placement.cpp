#include "scheduler/bounds/modules/module_placement.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "scheduler/structures/numbers.h"

// Given the classes of its entry and its exit, a module's operators can be placed without those of
// other modules. So dynamic programming over the classes of separators finds the cheapest
// placement:
//   f(exit, b) = min over a of f(entry, a) + module(a, b) + share and price of the exit on b.
// Inside a module, the chains have nothing in common but the time D that they may take:
//   module(a, b) = min over D of path_part · D + Σ over chains the least price of a way that is not
//   longer than D,
// which the ways that no other dominates in length and price suffice for. They are found along each
// chain, by class of its last operator. Merging ways only shortens or cheapens them.
//
// An entry's class a is not tried if another a' is better whatever follows: with the entry on a'
// instead, the module takes longer by the change of the transfers from the entry at most.
//
// The cost of a module is classes² × operators × labels for each class of the entry.

namespace hios::scheduler {
namespace {

/// Returns the least that an edge costs between two classes.
double edge_ms(const ClassCosts& costs, const ClassEdge* edge, std::size_t from, std::size_t to) {
  if (!edge || from == to) return 0;
  return edge->must_share ? kInfinity : costs.transfer_ms(*edge, from, to);
}

/// Returns true if the edge costs the same between all classes.
bool is_uniform(const ClassEdge* edge) {
  return !edge || edge->must_share || edge->table == ClassEdge::kSame;
}

}  // namespace

ModulePlacement::ModulePlacement(const ClassCosts& costs, const std::vector<ChainModule>& modules)
    : costs_(costs), modules_(modules), from_(modules.size()), at_(costs.classes()) {}

/// An absent separator has one state, which costs nothing.
std::size_t ModulePlacement::states(std::optional<std::uint32_t> separator) const {
  return separator ? costs_.classes() : 1;
}

double ModulePlacement::separator_ms(std::optional<std::uint32_t> separator,
                                     std::size_t state) const {
  if (!separator) return 0;
  if (!costs_.runs(*separator, state)) return kInfinity;
  const std::size_t cell = costs_.cell(*separator, state);
  return costs_.path_ms[cell] + prices_->price_ms[cell];
}

std::optional<double> ModulePlacement::least_ms(const ModulePrices& prices, std::size_t most_labels,
                                                const Deadline& deadline, double& work) {
  prices_ = &prices;
  most_labels_ = most_labels;
  tracing_ = false;
  std::vector<double> before, after;
  for (std::size_t a = 0; a < states(modules_.front().entry); ++a) {
    before.push_back(separator_ms(modules_.front().entry, a));
  }
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    const ChainModule& module = modules_[m];
    after.assign(states(module.exit), kInfinity);
    from_[m].assign(after.size(), 0);
    path_part_ = prices.path_part[m];
    const std::vector<bool> tried = worthwhile(module, before);
    for (std::size_t a = 0; a < before.size(); ++a) {
      if (tried[a]) place_module(module, a, before[a], after, from_[m]);
      work -= std::exchange(visited_, 0);
      if (work < 0 || deadline.expired()) return std::nullopt;
    }
    for (std::size_t b = 0; b < after.size(); ++b) after[b] += separator_ms(module.exit, b);
    before.swap(after);
  }
  const auto least = std::min_element(before.begin(), before.end());
  last_ = static_cast<std::uint32_t>(least - before.begin());
  return *least;
}

/// Returns the most by which the transfers from the entry grow if it moves to another class.
double ModulePlacement::change_ms(const ChainModule& module, std::size_t from,
                                  std::size_t to) const {
  double most = 0;
  const auto grow = [&](const ClassEdge* edge) {
    for (std::size_t k = 0; k < costs_.classes(); ++k) {
      const double now = edge_ms(costs_, edge, from, k), then = edge_ms(costs_, edge, to, k);
      if (then > now) most = std::max(most, then - now);
    }
  };
  for (const ModuleChain& chain : module.chains) grow(chain.edges.front());
  for (const ClassEdge* edge : module.direct) grow(edge);
  return most;
}

/// Returns, by state of the entry, true if it is tried.
std::vector<bool> ModulePlacement::worthwhile(const ChainModule& module,
                                              const std::vector<double>& before) const {
  std::vector<bool> tried(before.size());
  for (std::size_t a = 0; a < before.size(); ++a) tried[a] = before[a] < kInfinity;
  const auto best =
      static_cast<std::size_t>(std::min_element(before.begin(), before.end()) - before.begin());
  for (std::size_t a = 0; a < before.size(); ++a) {
    if (a == best || !tried[a]) continue;
    if (before[a] >= before[best] + path_part_ * change_ms(module, a, best)) {
      tried[a] = false;
    }
  }
  return tried;
}

/// Places the module with its entry in one state, and keeps what is better than with others.
void ModulePlacement::place_module(const ChainModule& module, std::size_t entry, double before_ms,
                                   std::vector<double>& after, std::vector<std::uint32_t>& from) {
  const std::optional<std::size_t> a = module.entry ? std::optional(entry) : std::nullopt;
  by_chain_.resize(module.chains.size());
  for (std::size_t c = 0; c < module.chains.size(); ++c) {
    by_chain_[c].resize(after.size());
    place_chain(module.chains[c], a, by_chain_[c]);
  }
  for (std::size_t b = 0; b < after.size(); ++b) {
    join_chains(module, a, b);
    if (joined_.empty()) continue;
    const PathLabel& label = cheapest_joined();
    const double sum = before_ms + path_part_ * label.length_ms + label.price_ms;
    if (!(sum < after[b])) continue;
    after[b] = sum;
    from[b] = static_cast<std::uint32_t>(entry);
  }
}

/// Joins the chains' labels, for one state of the exit.
void ModulePlacement::join_chains(const ChainModule& module, std::optional<std::size_t> entry,
                                  std::size_t exit) {
  PathLabel direct;
  for (const ClassEdge* edge : module.direct) {
    direct.length_ms = std::max(direct.length_ms, edge_ms(costs_, edge, *entry, exit));
  }
  joined_.clear();
  if (direct.length_ms < kInfinity) joined_.push_back(direct);
  for (std::size_t c = 0; c < module.chains.size(); ++c) {
    join_labels(joined_, by_chain_[c][exit], other_);
    joined_.swap(other_);
    visited_ += static_cast<double>(joined_.size());
  }
}

const PathLabel& ModulePlacement::cheapest_joined() const {
  const auto cost = [&](const PathLabel& label) {
    return path_part_ * label.length_ms + label.price_ms;
  };
  return *std::min_element(
      joined_.begin(), joined_.end(),
      [&](const PathLabel& a, const PathLabel& b) { return cost(a) < cost(b); });
}

/// Finds the ways to place a chain, by state of the exit.
void ModulePlacement::place_chain(const ModuleChain& chain, std::optional<std::size_t> entry,
                                  ByExit& into) {
  begin_chain(chain, entry);
  for (std::size_t i = 1; i < chain.operators.size(); ++i) {
    arrived_.resize(costs_.classes());
    arrive(chain.edges[i], 0, arrived_);
    at_.swap(arrived_);
    add_operator(chain.operators[i]);
  }
  arrive(chain.edges.back(), chain.after_ms, into);
}

/// Begins with the first operator on each class.
void ModulePlacement::begin_chain(const ModuleChain& chain, std::optional<std::size_t> entry) {
  for (std::size_t k = 0; k < costs_.classes(); ++k) {
    at_[k].clear();
    const double sent = entry ? edge_ms(costs_, chain.edges.front(), *entry, k) : 0;
    if (sent < kInfinity) at_[k].push_back({std::max(sent, chain.before_ms), 0, kNone});
  }
  add_operator(chain.operators.front());
}

/// Sends the labels of all classes along an edge, to each class or to the one state of an absent
/// exit. The edge takes at least `least_ms`.
void ModulePlacement::arrive(const ClassEdge* edge, double least_ms, ByExit& into) {
  const bool uniform = is_uniform(edge);
  if (uniform) {
    all_.clear();
    for (const PathLabels& labels : at_) {
      merge_labels(all_, labels, 0, other_);
      all_.swap(other_);
      visited_ += static_cast<double>(all_.size());
    }
  }
  const bool absent = into.size() != costs_.classes();
  for (std::size_t to = 0; to < into.size(); ++to) {
    PathLabels& labels = into[to];
    labels.clear();
    if (!absent) merge_labels(labels, at_[to], least_ms, other_);
    if (!absent) labels.swap(other_);
    const auto add = [&](const PathLabels& from, double ms) {
      if (ms == kInfinity) return;
      merge_labels(labels, from, std::max(ms, least_ms), other_);
      labels.swap(other_);
      visited_ += static_cast<double>(labels.size());
    };
    if (uniform) {
      const double ms = absent || !edge ? 0 : edge->must_share ? kInfinity : edge->least_ms;
      add(all_, ms);
    } else {
      for (std::size_t k = 0; k < costs_.classes(); ++k) {
        if (k != to) add(at_[k], edge_ms(costs_, edge, k, to));
      }
    }
    limit_labels(labels, most_labels_);
  }
}

/// Runs the operator after what arrived at each class.
void ModulePlacement::add_operator(std::uint32_t v) {
  for (std::size_t k = 0; k < costs_.classes(); ++k) {
    if (!costs_.runs(v, k)) at_[k].clear();
    const std::size_t cell = costs_.cell(v, k);
    for (PathLabel& label : at_[k]) {
      label.length_ms += costs_.path_ms[cell];
      label.price_ms += prices_->price_ms[cell];
      if (!tracing_) continue;
      traces_.push_back({label.trace, static_cast<std::uint32_t>(k)});
      label.trace = static_cast<std::uint32_t>(traces_.size() - 1);
    }
  }
}

PlacedModules ModulePlacement::placed() {
  PlacedModules result{std::vector<std::uint32_t>(costs_.operators, 0),
                       std::vector<double>(modules_.size(), 0)};
  tracing_ = true;
  std::uint32_t exit = last_;
  for (std::size_t m = modules_.size(); m-- > 0;) {
    const ChainModule& module = modules_[m];
    const std::uint32_t entry = from_[m][exit];
    path_part_ = prices_->path_part[m];
    result.length_ms[m] = trace_module(module, entry, exit, result.classes);
    if (module.exit) result.classes[*module.exit] = exit;
    if (module.entry) result.classes[*module.entry] = entry;
    exit = entry;
  }
  tracing_ = false;
  visited_ = 0;
  return result;
}

/// Places the module again, reads the classes of the cheapest way, and returns its length.
double ModulePlacement::trace_module(const ChainModule& module, std::size_t entry, std::size_t exit,
                                     std::vector<std::uint32_t>& classes) {
  traces_.clear();
  const std::optional<std::size_t> a = module.entry ? std::optional(entry) : std::nullopt;
  by_chain_.resize(module.chains.size());
  for (std::size_t c = 0; c < module.chains.size(); ++c) {
    by_chain_[c].resize(states(module.exit));
    place_chain(module.chains[c], a, by_chain_[c]);
  }
  join_chains(module, a, exit);
  const double length_ms = cheapest_joined().length_ms;
  for (std::size_t c = 0; c < module.chains.size(); ++c) {
    const PathLabels& labels = by_chain_[c][exit];
    const auto longer = std::ranges::find_if(
        labels, [&](const PathLabel& label) { return label.length_ms > length_ms; });
    std::uint32_t trace = std::prev(longer)->trace;
    const auto& operators = module.chains[c].operators;
    for (std::size_t i = operators.size(); i-- > 0;) {
      classes[operators[i]] = traces_[trace].k;
      trace = traces_[trace].before;
    }
  }
  return length_ms;
}

}  // namespace hios::scheduler
