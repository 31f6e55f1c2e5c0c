#pragma once

#include <map>
#include <string>

#include "engine/backend/backend.h"
#include "engine/cuda/operators/convolution.h"
#include "hios/base/json/json_io.h"

namespace hios::cuda {

class AutotuneTimer;

/// Which algorithm computes which problem. What was not given is chosen by trying all candidates
/// once, so that equal problems are computed alike wherever they occur.
class Algorithms {
 public:
  Algorithms(Json algorithms, bool deterministic);

  /// The algorithm's name; tried once, so that its code is loaded. Throws RunError where none of
  /// the candidates runs, or the given one does not.
  const std::string& of(const ConvolutionProblem& problem, const ConvolutionTools& tools);
  /// Throws InputError where it is no object of texts.
  void adopt(const Json& algorithms);

 private:
  struct Named {
    std::string name;
    bool tried = false;
  };
  std::string choose(const ConvolutionProblem& problem, const ConvolutionTools& tools);
  std::string choose_by(AutotuneTimer& timer, const ConvolutionProblem& problem,
                        const ConvolutionTools& tools);

  std::map<std::string, Named> known_;  // by the problem's key
  bool deterministic_;
  bool warm_ = false;  // the GPU's clocks have risen
};

}  // namespace hios::cuda
