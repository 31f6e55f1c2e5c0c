#include "scheduler/split/diagram/charges.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

// Let Q be operators that are not done, θ the least tail of any of them on any device, X the latest
// end of one of Q: the latency is at least X + θ. A device that runs some of Q ends the last of
// them no earlier than when it is free and all of them have run there: free + its work <= X. One
// that runs none has no work, and min(free, X) + its work <= X holds for all. With prices of
// devices that are not negative and sum up to 1, the sum of price × min(free, X), plus what each of
// Q costs where price × time is least, is X at most. The least such X counts. Any prices and any Q
// will do: Q are those of the largest tails, as many as make the sum with θ largest.
// (bounds/lagrangian.cpp has the same for whole graphs.)

namespace hios::scheduler::split {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kRounding = 1e-9;
constexpr int kSteps = 150;
constexpr double kFirstStep = 0.3, kShrink = 0.97;
constexpr double kDearer[] = {0.7, 1.4};  // each device's price beside the best ones

void scale(std::vector<double>& prices) {
  double sum = 0;
  for (double price : prices) sum += price;
  for (double& price : prices) price /= sum;
}

/// What all operators cost at least; adds their times to the devices where that is.
double charged(const Work& work, std::span<const double> prices, std::vector<double>& load) {
  double sum = 0;
  for (std::size_t v = 0; v < work.operators; ++v) {
    double least = kInfinity;
    std::size_t where = 0;
    for (std::size_t d = 0; d < work.devices; ++d) {
      const double cost = prices[d] * work.time[work.at(v, d)];
      if (cost >= least) continue;
      least = cost;
      where = d;
    }
    if (least == kInfinity) continue;
    load[where] += work.time[work.at(v, where)];
    sum += least;
  }
  return sum;
}

/// Prices at which all operators cost much: a device with more work becomes more expensive.
std::vector<double> expensive_prices(const Work& work) {
  std::vector<double> prices(work.devices, 1.0 / static_cast<double>(work.devices));
  std::vector<double> best = prices;
  double most = 0, step = kFirstStep;
  for (int round = 0; round < kSteps; ++round, step *= kShrink) {
    std::vector<double> load(work.devices, 0);
    const double sum = charged(work, prices, load);
    if (sum > most) {
      most = sum;
      best = prices;
    }
    const double top = *std::max_element(load.begin(), load.end());
    if (top <= 0) break;
    for (std::size_t d = 0; d < work.devices; ++d) prices[d] *= std::exp(step * load[d] / top);
    scale(prices);
  }
  return best;
}

}  // namespace

Charges::Charges(const Work& work) : prices_{expensive_prices(work)} {
  for (std::size_t d = 0; d < work.devices && work.devices > 1; ++d) {
    for (const double factor : kDearer) {
      prices_.push_back(prices_.front());
      prices_.back()[d] *= factor;
      scale(prices_.back());
    }
  }
  for (std::size_t v = 0; v < work.operators; ++v) {
    double tail = kInfinity;
    for (std::size_t d = 0; d < work.devices; ++d) {
      if (work.time[work.at(v, d)] < kInfinity) tail = std::min(tail, work.tail[work.at(v, d)]);
    }
    by_tail_.push_back(v);
    least_tail_.push_back(tail);
    for (const auto& prices : prices_) {
      double cost = kInfinity;
      for (std::size_t d = 0; d < work.devices; ++d) {
        cost = std::min(cost, prices[d] * work.time[work.at(v, d)]);
      }
      least_cost_.push_back(cost);
    }
  }
  std::stable_sort(by_tail_.begin(), by_tail_.end(),
                   [&](std::size_t a, std::size_t b) { return least_tail_[a] > least_tail_[b]; });
}

Charges::Rest Charges::rest(std::span<const std::uint64_t> done) const {
  const std::size_t count = prices_.size();
  Rest rest{std::vector<double>(count, 0), std::vector<double>(count, 0)};
  std::vector<double> sums(count, 0);
  for (std::size_t v : by_tail_) {
    if ((done[v / 64] >> (v % 64) & 1) != 0) continue;
    for (std::size_t p = 0; p < count; ++p) {
      sums[p] += least_cost_[v * count + p];
      if (sums[p] + least_tail_[v] <= rest.cost[p] + rest.tail[p]) continue;
      rest.cost[p] = sums[p];
      rest.tail[p] = least_tail_[v];
    }
  }
  return rest;
}

double Charges::end_ms(const Rest& rest, std::span<const double> free) const {
  double latest = 0;
  for (std::size_t p = 0; p < prices_.size(); ++p) {
    double end = kInfinity;
    while (true) {
      double sum = rest.cost[p], share = 1;
      for (std::size_t d = 0; d < free.size(); ++d) {
        if (free[d] > end) {
          share -= prices_[p][d];
        } else {
          sum += prices_[p][d] * free[d];
        }
      }
      if (share <= kRounding) end = 0;
      if (share <= kRounding || sum / share >= end) break;
      end = sum / share;
    }
    latest = std::max(latest, end * (1 - kRounding) + rest.tail[p]);
  }
  return latest;
}

}  // namespace hios::scheduler::split
