#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/operators/convolution.h"
#include "hios/base/json/json_io.h"
#include "hios/base/json/owned_json.h"

namespace hios::cuda {

class AutotuneTimer;
struct Trial;

/// The algorithm of each problem. An algorithm that was not adopted is chosen by trying all
/// candidates once, so that equal problems are computed alike wherever they occur.
class Algorithms {
 public:
  /// `without` has the names of algorithms that are never tried nor run, or the first words of
  /// these. Throws InputError if one of them begins like no algorithm, or as adopt() does.
  Algorithms(const Json& algorithms, bool deterministic, std::vector<std::string> without = {});

  /// Returns the algorithm's name, after running it once, so that its code is loaded. Throws
  /// RunError if no candidate runs, or the adopted one does not.
  const std::string& of(const ConvolutionProblem& problem, const ConvolutionTools& tools);
  /// Adopts algorithms, but none of those that are never tried: of these, of() chooses another.
  /// Throws InputError if they are not an object of strings.
  void adopt(const Json& algorithms);
  /// Returns how candidates fared: by the problem's key an object of all that were tried, with a
  /// time in ms or the reason why there is none.
  const Json& trials() const { return *trials_; }

 private:
  struct Named {
    std::string name;
    bool tried = false;
  };
  bool is_left_out(const std::string& name) const;
  /// Returns the candidates that may be tried.
  std::vector<std::string> candidates(const ConvolutionProblem& problem,
                                      const ConvolutionTools& tools) const;
  std::string wrong_values(const std::string& name, ConvolutionAlgorithm& algorithm,
                           ConvolutionAlgorithm& own, AutotuneTimer& timer,
                           const ConvolutionProblem& problem) const;
  std::string choose(const ConvolutionProblem& problem, const ConvolutionTools& tools);
  std::string choose_by(AutotuneTimer& timer, const ConvolutionProblem& problem,
                        const ConvolutionTools& tools);
  /// Notes the result of a trial, and prints it if the program is asked for all that it does.
  void note(const ConvolutionProblem& problem, const std::string& name, const Trial& trial);

  std::map<std::string, Named> known_;  // by the problem's key
  OwnedJson trials_;                    // by the problem's key and the algorithm's name
  bool deterministic_;
  std::vector<std::string> without_;
  bool warm_ = false;  // the GPU's clocks have risen
};

}  // namespace hios::cuda
