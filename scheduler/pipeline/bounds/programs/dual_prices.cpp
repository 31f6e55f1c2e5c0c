#include "scheduler/pipeline/bounds/programs/dual_prices.h"

#include <algorithm>

#include "scheduler/structures/numbers.h"

namespace hios::scheduler::pipeline {
namespace {

/// Returns the dual prices of any shares, which need not add up to 1.
DualPrices dual_prices_of(const LeastCosts& costs, std::vector<double> shares) {
  double sum = 0;
  for (std::size_t c = 0; c < shares.size(); ++c) {
    shares[c] = std::max(0.0, shares[c]);
    sum += shares[c] * static_cast<double>(costs.classes()[c].devices.size());
  }
  DualPrices prices;
  for (double& share : shares) share /= sum;
  for (Vertex v = 0; v < costs.size(); ++v) {
    double least = kInfinity;
    for (std::size_t c = 0; c < shares.size(); ++c) {
      const double work_ms = costs.classes()[c].work_ms[v];
      if (work_ms < kInfinity) least = std::min(least, shares[c] * work_ms);
    }
    prices.by_vertex_ms.push_back(least);
    prices.all_ms += least;
  }
  prices.shares = std::move(shares);
  return prices;
}

/// Maximises the sum of dual prices, by vertex, none above share · work of any class.
std::vector<double> best_shares(const LeastCosts& costs, const milp::Solver& solver) {
  const std::vector<PipelineClass>& classes = costs.classes();
  milp::Program program;
  milp::Program::Row all{1, 1, {}};
  for (std::size_t c = 0; c < classes.size(); ++c) {
    all.terms.push_back(
        {program.add({0, 0, 1, false}), static_cast<double>(classes[c].devices.size())});
  }
  program.add(all);
  const double unit_ms = std::max(costs.total_work_ms(), 1e-300);
  for (Vertex v = 0; v < costs.size(); ++v) {
    const std::uint32_t price = program.add(milp::Program::Column{.cost = -1});
    for (std::size_t c = 0; c < classes.size(); ++c) {
      if (classes[c].work_ms[v] == kInfinity) continue;
      program.add(milp::Program::Row{
          0,
          kInfinity,
          {{static_cast<std::uint32_t>(c), classes[c].work_ms[v] / unit_ms}, {price, -1}}});
    }
  }
  milp::Answer answer = solver.solve(program, {}, {});
  milp::check_answer(answer, program, {});
  if (answer.status != milp::Status::kOptimal) return {};
  answer.values.resize(classes.size());
  return answer.values;
}

}  // namespace

DualPrices largest_dual_prices(const LeastCosts& costs, const milp::Solver& solver) {
  DualPrices alike = dual_prices_of(costs, std::vector<double>(costs.classes().size(), 1));
  if (costs.classes().size() == 1) return alike;
  const std::vector<double> shares = best_shares(costs, solver);
  if (std::ranges::none_of(shares, [](double share) { return share > 0; })) return alike;
  DualPrices best = dual_prices_of(costs, shares);
  return best.all_ms > alike.all_ms ? best : alike;
}

}  // namespace hios::scheduler::pipeline
