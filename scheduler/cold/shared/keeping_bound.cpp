#include "scheduler/cold/shared/keeping_bound.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "scheduler/cold/bounds/moved_sets.h"
#include "scheduler/cold/shared/bound_terms.h"
#include "scheduler/structures/saturating_sum.h"

// Let y be 1 for each set that some device keeps, and 0 for the others. No keeping has more bytes
// than the limits of all devices together, and none has a set that is larger than each limit. Each
// term (bound_terms.h) is linear in y, and a model's latency is at least its largest term. So the
// expected latency is at least the least value, over all such y, of the sum over models of share
// times largest term. With fractions of sets the least value is smaller: a linear program.
//
// Any mix of a model's terms, with weights that sum to 1, is at most the largest of them. For a mix
// of each model the least value over y is known: the sum of linear functions, in which each set
// saves so many ms a byte. The sets that save most a byte are kept, the last one in part. So every
// mix gives a bound; the largest over all mixes is the value of the linear program (duality).
//
// The mixes are found by a game: y answers the mix by the best sets, and the mix answers y by
// regret: a term's weight grows as far as it was above the mix. Both averages converge to the
// program's solution. The largest bound of all rounds is returned, so that ending early is safe.
//
// S. Hart and A. Mas-Colell, "A simple adaptive procedure leading to correlated equilibrium",
// Econometrica 68 (2000); O. Tammelin et al., "Solving heads-up limit Texas hold'em", IJCAI 2015
// (regrets that never fall below 0, averages that weigh later rounds more).
//
// Tests: tests/scheduler/cold/shared/keeping_bound_test.cpp.

namespace hios::scheduler::cold {
namespace {

constexpr int kMixRounds = 600;
constexpr int kLeastRounds = 20;       // though the terms took all of the time
constexpr int kRoundsPerAverage = 10;  // bounds of the average mix are computed so seldom

using Mix = std::vector<double>;  // by term, sum 1

/// Returns the weights divided by their sum. REQUIRES: a sum above 0.
Mix normalised(Mix weights, double sum) {
  for (double& weight : weights) weight /= sum;
  return weights;
}

class MixGame {
 public:
  MixGame(const Server& server, std::vector<std::vector<BoundTerm>> terms)
      : server_(server), terms_(std::move(terms)), kept_(server.sets().size(), 0) {
    for (const auto& of_model : terms_) {
      mix_.emplace_back(of_model.size(), 1.0 / static_cast<double>(of_model.size()));
      regret_.emplace_back(of_model.size(), 0);
      average_.emplace_back(of_model.size(), 0);
    }
    for (std::size_t d = 0; d < server.platform().size(); ++d) {
      largest_ = std::max(largest_, server.limit(DeviceId(d)));
    }
  }

  double play(const Deadline& deadline) {
    double bound_ms = 0, rounds_sum = 0;
    for (int round = 1; round <= kMixRounds; ++round) {
      bound_ms = std::max(bound_ms, answer(mix_));
      for (std::size_t m = 0; m < terms_.size(); ++m) change_mix(m, round);
      rounds_sum += round;
      const bool last = round == kMixRounds || (round >= kLeastRounds && deadline.expired());
      if (!last && round % kRoundsPerAverage != 0) continue;
      std::vector<Mix> averages;
      for (const Mix& sum : average_) averages.push_back(normalised(sum, rounds_sum));
      bound_ms = std::max(bound_ms, answer(averages));
      if (last) break;
    }
    return bound_ms;
  }

 private:
  /// Sets kept_ to the fractions that make the sum least, and returns it.
  double answer(const std::vector<Mix>& mixes) {
    std::vector<double> saved_ms(server_.sets().size(), 0);
    double sum_ms = 0;
    for (std::size_t m = 0; m < terms_.size(); ++m) {
      for (std::size_t t = 0; t < terms_[m].size(); ++t) {
        const double weight = server_.models()[m].share * mixes[m][t];
        if (weight == 0) continue;
        sum_ms += weight * terms_[m][t].after_ms;
        for (const BoundTerm::Part& part : terms_[m][t].parts) {
          saved_ms[part.set] += weight * part.ms;
          sum_ms += weight * part.ms;
        }
      }
    }
    return sum_ms - keep_best(saved_ms);
  }

  /// Keeps the sets that save most a byte. Returns the time that they save.
  double keep_best(const std::vector<double>& saved_ms) {
    const auto size = [&](std::size_t s) {
      return static_cast<double>(server_.sets()[s].size_bytes);
    };
    std::vector<std::size_t> order(saved_ms.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::erase_if(order, [&](std::size_t s) { return server_.sets()[s].size_bytes > largest_; });
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return saved_ms[a] * size(b) > saved_ms[b] * size(a);
    });
    std::ranges::fill(kept_, 0);
    auto room = static_cast<double>(server_.all_limits());
    double all_ms = 0;
    for (const std::size_t s : order) {
      kept_[s] = std::min(1.0, room / size(s));
      all_ms += kept_[s] * saved_ms[s];
      room -= kept_[s] * size(s);
      if (!(room > 0)) break;
    }
    return all_ms;
  }

  double value_ms(const BoundTerm& term) const {
    double ms = term.after_ms;
    for (const BoundTerm::Part& part : term.parts) ms += (1 - kept_[part.set]) * part.ms;
    return ms;
  }

  void change_mix(std::size_t m, int round) {
    Mix& mix = mix_[m];
    std::vector<double> values;
    double of_mix_ms = 0, sum = 0;
    for (std::size_t t = 0; t < mix.size(); ++t) {
      values.push_back(value_ms(terms_[m][t]));
      of_mix_ms += mix[t] * values[t];
    }
    for (std::size_t t = 0; t < mix.size(); ++t) {
      regret_[m][t] = std::max(0.0, regret_[m][t] + values[t] - of_mix_ms);
      sum += regret_[m][t];
    }
    if (sum > 0) mix = normalised(regret_[m], sum);
    for (std::size_t t = 0; t < mix.size(); ++t) average_[m][t] += round * mix[t];
  }

  const Server& server_;
  std::vector<std::vector<BoundTerm>> terms_;  // by model
  std::vector<double> kept_;                   // by set, the fraction that the last answer keeps
  std::vector<Mix> mix_, regret_, average_;    // by model
  Bytes largest_ = 0;                          // limit of a device
};

}  // namespace

double keeping_bound_ms(const Server& server, const Deadline& deadline) {
  std::vector<std::vector<BoundTerm>> terms;
  std::size_t most_sets = 0;
  for (std::size_t m = 0; m < server.models().size(); ++m) {
    terms.push_back(bound_terms(server, m, deadline));
    most_sets = std::max(most_sets, server.parameters(m).sets().size());
  }
  return without_roundings(MixGame(server, std::move(terms)).play(deadline), most_sets + 1);
}

}  // namespace hios::scheduler::cold
