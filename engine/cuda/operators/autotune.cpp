#include "engine/cuda/operators/autotune.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/cuda/operators/autotune_timer.h"
#include "hios/base/error.h"
#include "hios/base/log.h"

namespace hios::cuda {

Algorithms::Algorithms(const Json& algorithms, bool deterministic, std::vector<std::string> without)
    : deterministic_(deterministic), without_(std::move(without)) {
  for (const std::string& name : without_) {
    if (!is_of_a_family(name)) {
      throw InputError(quote(name, 120) +
                       " is to be left out, and no algorithm of backend cuda begins so: they begin "
                       "with own, cudnn, lt and graph");
    }
  }
  adopt(algorithms);
}

bool Algorithms::is_left_out(const std::string& name) const {
  return std::ranges::any_of(
      without_, [&](const std::string& begin) { return (name + " ").starts_with(begin + " "); });
}

std::vector<std::string> Algorithms::candidates(const ConvolutionProblem& problem,
                                                const ConvolutionTools& tools) const {
  std::vector<std::string> names = convolution_candidates(problem, tools, deterministic_);
  std::erase_if(names, [&](const std::string& name) { return is_left_out(name); });
  return names;
}

void Algorithms::adopt(const Json& algorithms) {
  if (!algorithms.is_object()) {
    throw InputError(
        "the algorithms of backend cuda are not an object of strings; measure them again");
  }
  for (const auto& [key, name] : algorithms.items()) {
    if (!name.is_string()) {
      throw InputError("the algorithm of backend cuda for " + quote(key) +
                       " is not a string; measure it again");
    }
    if (is_left_out(name.get<std::string>())) {
      known_.erase(key);
    } else {
      known_[key] = {name.get<std::string>(), false};
    }
  }
}

const std::string& Algorithms::of(const ConvolutionProblem& problem,
                                  const ConvolutionTools& tools) {
  const std::string key = problem.key();
  const auto known = known_.find(key);
  if (known == known_.end()) {
    return known_.emplace(key, Named{choose(problem, tools), true}).first->second.name;
  }
  Named& agreed = known->second;
  if (!agreed.tried) {
    AutotuneTimer timer(problem, tools);
    try {
      timer.run_once(*make_convolution(agreed.name, problem, tools));
    } catch (const RunError& error) {
      timer.require_working_device(agreed.name, without_);
      throw RunError("the algorithm " + quote(agreed.name) + " that was agreed on for " +
                     quote(key, 120) + " does not run on this rank's GPU: " + error.what() +
                     "; give all ranks the same kind of GPU and the same CUDA libraries");
    }
    agreed.tried = true;
  }
  return agreed.name;
}

std::string Algorithms::choose(const ConvolutionProblem& problem, const ConvolutionTools& tools) {
  AutotuneTimer timer(problem, tools);
  std::string best = choose_by(timer, problem, tools);
  if (best.empty()) {  // on a GPU that records nothing, rows of runs will not be recorded either
    timer.record_nothing();
    best = choose_by(timer, problem, tools);
  }
  if (best.empty()) {
    throw RunError("no algorithm computes " + quote(problem.key(), 120) + " on this GPU" +
                   (without_.empty() ? "" : " of those that are not left out"));
  }
  return best;
}

/// Returns the largest distance from our kernel's output that rounding explains.
double tolerated(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      // Other orders of sums and the transforms of fp32 lose less than 1e-5. Operands that are
      // rounded to TF32, which fp32 must not be, are 2.5e-4 away.
      return 1e-4;
    case Precision::kTf32:
      // Operands have 10 bits of mantissa: 2.8e-4 if they are rounded, about 8e-4 if they are cut
      // off. The 7 bits of bfloat16 are above 2.2e-3.
      return 2e-3;
    case Precision::kFp16:
      // Outputs are rounded to 10 bits, and transforms may keep their intermediate values in
      // halves, with an error several times as large.
      return 1e-2;
  }
  return 0;
}

/// Returns the reason, after a warning with it, if the algorithm's values are not those of our
/// kernel. Empty if they are, or the two cannot be compared: memory may be short.
std::string Algorithms::wrong_values(const std::string& name, ConvolutionAlgorithm& algorithm,
                                     ConvolutionAlgorithm& own, AutotuneTimer& timer,
                                     const ConvolutionProblem& problem) const {
  try {
    const double difference = timer.difference(algorithm, own);
    if (difference <= tolerated(problem.precision)) return {};
    const std::string reason =
        "its values differ from those of our kernel by " + std::to_string(100 * difference) + " %";
    log::warning("the algorithm " + quote(name) + " is not used for " + quote(problem.key(), 120) +
                 ": " + reason);
    return reason;
  } catch (const RunError&) {
    timer.require_working_device(name, without_);
    return {};
  }
}

void Algorithms::note(const ConvolutionProblem& problem, const std::string& name,
                      const Trial& trial) {
  (*trials_)[problem.key()][name] = trial.ms ? Json(*trial.ms) : Json(trial.refusal);
  log::verbose("tried " + name + " for " + problem.key() + ": " +
               (trial.ms ? ms_text(*trial.ms) : trial.refusal));
}

/// Returns the fastest candidate of those that give our kernel's values; empty if none can be
/// timed.
std::string Algorithms::choose_by(AutotuneTimer& timer, const ConvolutionProblem& problem,
                                  const ConvolutionTools& tools) {
  std::string best;
  double best_ms = std::numeric_limits<double>::infinity();
  const std::vector<std::string> names = candidates(problem, tools);
  // The reference is the first of our kernels; without any, values are not compared.
  const auto first_own =
      std::ranges::find_if(names, [](const std::string& name) { return name.starts_with("own "); });
  const std::string own_name = first_own == names.end() ? "" : *first_own;
  std::unique_ptr<ConvolutionAlgorithm> own;
  for (const std::string& name : names) {
    std::unique_ptr<ConvolutionAlgorithm> algorithm;
    try {
      algorithm = make_convolution(name, problem, tools);
      if (!warm_) timer.warm_up(*algorithm);
      warm_ = true;
    } catch (const RunError& error) {
      timer.require_working_device(name, without_);
      note(problem, name, {{}, error.what()});
      continue;  // a library may list an algorithm that it then refuses
    }
    Trial trial = timer.trial(*algorithm, best_ms);
    if (!trial.ms) timer.require_working_device(name, without_);
    const bool leads = trial.ms && *trial.ms < best_ms;
    if (leads && !own_name.empty() && name != own_name) {
      if (!own) own = make_convolution(own_name, problem, tools);
      trial.refusal = wrong_values(name, *algorithm, *own, timer, problem);
      if (!trial.refusal.empty()) trial.ms.reset();
    }
    note(problem, name, trial);
    if (!leads || !trial.ms) continue;
    best = name;
    best_ms = *trial.ms;
  }
  return best;
}

}  // namespace hios::cuda
