#include "scheduler/split/diagram/charges.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "scheduler/structures/numbers.h"

// Let Q be some remaining operators, θ their least tail on any device, and X the latest end of one
// of Q. The latency is at least X + θ. A device that runs some of Q ends the last of them no
// earlier than free + its work, where free is the time from which the device is free: free + its
// work <= X. A device that runs none has no work, so min(free, X) + its work <= X holds for all
// devices.
//
// Weight these inequalities by dual prices of the devices: not negative, with sum 1. Each operator
// of Q costs at least its smallest price × time. So Σ price × min(free, X) + Σ cost <= X, and the
// least X that satisfies this is a bound. Any dual prices and any Q give one. Q are operators of
// the largest tails, as many as maximise their total cost plus θ. (scheduler/bounds/lagrangian.cpp
// relaxes whole graphs in the same way.)

namespace hios::scheduler::split {
namespace {

constexpr int kChargeSteps = 150;
constexpr double kFirstCharge = 0.3, kShrink = 0.97;
constexpr double kPriceFactors[] = {0.7, 1.4};  // a device's dual price, relative to the best ones

void scale(std::vector<double>& prices) {
  double sum = 0;
  for (double price : prices) sum += price;
  for (double& price : prices) price /= sum;
}

/// Returns the least total cost of all operators; adds their times to the devices that are
/// cheapest.
double charged(const DiagramProblem& problem, std::span<const double> prices,
               std::vector<double>& load) {
  double sum = 0;
  for (std::size_t v = 0; v < problem.operators; ++v) {
    double least = kInfinity;
    std::size_t where = 0;
    for (std::size_t d = 0; d < problem.devices; ++d) {
      const double cost = prices[d] * problem.time[problem.at(v, d)];
      if (cost >= least) continue;
      least = cost;
      where = d;
    }
    if (least == kInfinity) continue;
    load[where] += problem.time[problem.at(v, where)];
    sum += least;
  }
  return sum;
}

/// Returns dual prices at which all operators cost much: those of devices with more work grow.
std::vector<double> best_prices(const DiagramProblem& problem) {
  std::vector<double> prices(problem.devices, 1.0 / static_cast<double>(problem.devices));
  std::vector<double> best = prices;
  double most = 0, step = kFirstCharge;
  for (int round = 0; round < kChargeSteps; ++round, step *= kShrink) {
    std::vector<double> load(problem.devices, 0);
    const double sum = charged(problem, prices, load);
    if (sum > most) {
      most = sum;
      best = prices;
    }
    const double top = *std::max_element(load.begin(), load.end());
    if (top <= 0) break;
    for (std::size_t d = 0; d < problem.devices; ++d) prices[d] *= std::exp(step * load[d] / top);
    scale(prices);
  }
  return best;
}

}  // namespace

Charges::Charges(const DiagramProblem& problem) : dual_prices_{best_prices(problem)} {
  for (std::size_t d = 0; d < problem.devices && problem.devices > 1; ++d) {
    for (const double factor : kPriceFactors) {
      dual_prices_.push_back(dual_prices_.front());
      dual_prices_.back()[d] *= factor;
      scale(dual_prices_.back());
    }
  }
  for (std::size_t v = 0; v < problem.operators; ++v) {
    double tail = kInfinity;
    for (std::size_t d = 0; d < problem.devices; ++d) {
      if (problem.time[problem.at(v, d)] < kInfinity)
        tail = std::min(tail, problem.tail[problem.at(v, d)]);
    }
    by_tail_.push_back(v);
    least_tail_.push_back(tail);
    for (const auto& prices : dual_prices_) {
      double cost = kInfinity;
      for (std::size_t d = 0; d < problem.devices; ++d) {
        cost = std::min(cost, prices[d] * problem.time[problem.at(v, d)]);
      }
      least_cost_.push_back(cost);
    }
  }
  std::stable_sort(by_tail_.begin(), by_tail_.end(),
                   [&](std::size_t a, std::size_t b) { return least_tail_[a] > least_tail_[b]; });
}

Charges::Remaining Charges::remaining(std::span<const std::uint64_t> done) const {
  const std::size_t count = dual_prices_.size();
  Remaining remaining{std::vector<double>(count, 0), std::vector<double>(count, 0)};
  std::vector<double> sums(count, 0);
  for (std::size_t v : by_tail_) {
    if ((done[v / 64] >> (v % 64) & 1) != 0) continue;
    for (std::size_t p = 0; p < count; ++p) {
      sums[p] += least_cost_[v * count + p];
      if (sums[p] + least_tail_[v] <= remaining.cost[p] + remaining.tail[p]) continue;
      remaining.cost[p] = sums[p];
      remaining.tail[p] = least_tail_[v];
    }
  }
  return remaining;
}

double Charges::end_ms(const Remaining& remaining, std::span<const double> free) const {
  double latest = 0;
  for (std::size_t p = 0; p < dual_prices_.size(); ++p) {
    double end = kInfinity;
    while (true) {
      double sum = remaining.cost[p], share = 1;
      for (std::size_t d = 0; d < free.size(); ++d) {
        if (free[d] > end) {
          share -= dual_prices_[p][d];
        } else {
          sum += dual_prices_[p][d] * free[d];
        }
      }
      if (share <= kRounding) end = 0;
      if (share <= kRounding || sum / share >= end) break;
      end = sum / share;
    }
    latest = std::max(latest, end * (1 - kRounding) + remaining.tail[p]);
  }
  return latest;
}

}  // namespace hios::scheduler::split
