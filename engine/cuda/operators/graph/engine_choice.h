#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hios/base/numbers/precision.h"

/// The choice of a cuDNN engine and its settings for a graph, as a text on which ranks agree. Needs
/// nothing of cuDNN.
namespace hios::cuda::graph {

/// A setting of an engine: cuDNN's number of the setting, and its value.
struct Knob {
  int type = 0;
  std::int64_t value = 0;
  bool operator==(const Knob&) const = default;
};

struct EngineChoice {
  std::int64_t engine = 0;  ///< its global index
  std::vector<Knob> knobs;  ///< in rising order of type, each type once
  bool fused = true;        ///< bias and relu in the same graph; else the convolution alone
  bool added = false;       ///< and an addend

  /// Returns "graph 37 2=1,13=0"; without knobs "graph 37"; not fused "graph 37 2=1,13=0 plain";
  /// with an addend "graph 37 2=1,13=0 added".
  std::string name() const;
  bool operator==(const EngineChoice&) const = default;
};

/// Parses a name(). Throws RunError if it is none.
EngineChoice choice_named(const std::string& name);

/// cuDNN's notes about an engine, all but the last about its arithmetic.
struct EngineNotes {
  bool tensor_cores = false;
  bool narrower_inputs = false;  ///< rounds its inputs to fewer bits
  bool narrower_sums = false;    ///< accumulates in fewer bits than fp32 somewhere
  bool transforms = false;       ///< multiplies transforms (Winograd, Fourier) of its inputs
  bool nondeterministic = false;
  bool compiled = false;  ///< for the graph, when its plan is made
};

/// Returns true if that is the arithmetic of `precision` (docs/arithmetic.md).
bool fits(const EngineNotes& notes, Precision precision);

}  // namespace hios::cuda::graph
