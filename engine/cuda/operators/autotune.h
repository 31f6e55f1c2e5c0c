#pragma once

#include <map>
#include <string>

#include "engine/backend/backend.h"
#include "engine/cuda/operators/convolution.h"
#include "hios/base/json/json_io.h"

namespace hios::cuda {

class AutotuneTimer;

/// The algorithm of each problem. An algorithm that was not adopted is chosen by trying all
/// candidates once, so that equal problems are computed alike wherever they occur.
class Algorithms {
 public:
  Algorithms(Json algorithms, bool deterministic);

  /// Returns the algorithm's name, after running it once, so that its code is loaded. Throws
  /// RunError if no candidate runs, or the adopted one does not.
  const std::string& of(const ConvolutionProblem& problem, const ConvolutionTools& tools);
  /// Adopts algorithms. Throws InputError if they are not an object of strings.
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
