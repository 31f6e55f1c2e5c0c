#include "scheduler/bounds/problem.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

namespace hios::scheduler {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kOutside = ~std::uint32_t{0};

void add_least_shares(const Shares& shares, Problem& into) {
  std::vector<bool> used;
  for (OpId op : into.ops) {
    double path = kInfinity, window = kInfinity;
    for (DeviceId device : into.places->devices(op)) {
      path = std::min(path, shares.path_ms(op, device));
      window = std::min(window, shares.window_ms(op, device));
      if (device.index() >= used.size()) used.resize(device.index() + 1, false);
      used[device.index()] = true;
    }
    into.path_ms.push_back(path);
    into.window_ms.push_back(window);
  }
  into.devices = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
}

void add_homes(Problem& into) {
  std::unordered_map<std::uint32_t, std::uint32_t> first;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const auto own = static_cast<std::uint32_t>(i);
    const auto home = into.places->home(into.ops[i]);
    into.home.push_back(home ? first.emplace(*home, own).first->second : own);
  }
}

Arc arc_of(const Graph& graph, Places& places, EdgeId edge, std::uint32_t other) {
  const Edge& e = graph.edge(edge);
  const bool together = places.must_share(e.from, e.to);
  return {other, together || places.may_share(e.from, e.to),
          together ? kInfinity : places.transfer_ms(edge)};
}

}  // namespace

void mirror_inputs(Problem& problem) {
  problem.output_begin.assign(problem.size() + 1, 0);
  for (const Arc& arc : problem.inputs) ++problem.output_begin[arc.other + 1];
  for (std::size_t i = 0; i < problem.size(); ++i) {
    problem.output_begin[i + 1] += problem.output_begin[i];
  }
  problem.outputs.resize(problem.inputs.size());
  std::vector<std::size_t> next(problem.output_begin.begin(), problem.output_begin.end() - 1);
  for (std::size_t i = 0; i < problem.size(); ++i) {
    for (const Arc& arc : problem.inputs_of(i)) {
      Arc out = arc;
      out.other = static_cast<std::uint32_t>(i);
      problem.outputs[next[arc.other]++] = out;
    }
  }
}

Parts::Parts(const Graph& graph, const Shares& shares, Places& places)
    : graph_(&graph), shares_(&shares), places_(&places), number_(graph.size(), kOutside) {}

Problem Parts::part(std::vector<OpId> operators) {
  Problem part;
  part.ops = std::move(operators);
  part.places = places_;
  add_least_shares(*shares_, part);
  add_homes(part);
  for (std::size_t i = 0; i < part.size(); ++i) {
    number_[part.ops[i].index()] = static_cast<std::uint32_t>(i);
  }
  part.input_begin.push_back(0);
  for (OpId op : part.ops) {
    for (EdgeId e : graph_->in_edges(op)) {
      const std::uint32_t from = number_[graph_->edge(e).from.index()];
      if (from != kOutside) part.inputs.push_back(arc_of(*graph_, *places_, e, from));
    }
    part.input_begin.push_back(part.inputs.size());
  }
  for (OpId op : part.ops) number_[op.index()] = kOutside;
  mirror_inputs(part);
  return part;
}

Problem Parts::whole() {
  return part({graph_->topological().begin(), graph_->topological().end()});
}

Problem reversed(const Problem& problem) {
  Problem result;
  const std::size_t n = problem.size();
  result.ops.assign(problem.ops.rbegin(), problem.ops.rend());
  result.path_ms.assign(problem.path_ms.rbegin(), problem.path_ms.rend());
  result.window_ms.assign(problem.window_ms.rbegin(), problem.window_ms.rend());
  result.home.assign(problem.home.rbegin(), problem.home.rend());
  result.devices = problem.devices;
  result.places = problem.places;
  result.input_begin.push_back(0);
  for (std::size_t i = n; i-- > 0;) {
    for (Arc arc : problem.outputs_of(i)) {
      arc.other = static_cast<std::uint32_t>(n - 1 - arc.other);
      result.inputs.push_back(arc);
    }
    result.input_begin.push_back(result.inputs.size());
  }
  mirror_inputs(result);
  return result;
}

}  // namespace hios::scheduler
