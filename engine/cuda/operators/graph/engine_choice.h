#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hios/base/numbers/precision.h"

/// Which of cuDNN's engines computes a graph, and how: what ranks must agree on, as text. Needs
/// nothing of cuDNN.
namespace hios::cuda::graph {

/// A setting of an engine: cuDNN's number for what is set, and its value.
struct Knob {
  int type = 0;
  std::int64_t value = 0;
  bool operator==(const Knob&) const = default;
};

struct EngineChoice {
  std::int64_t engine = 0;  ///< its global index
  std::vector<Knob> knobs;  ///< rising by type, each type once
  bool fused = true;        ///< bias and relu in the same go; else the convolution alone

  /// "graph 37 2=1,13=0"; without knobs "graph 37"; not fused "graph 37 2=1,13=0 plain".
  std::string name() const;
  bool operator==(const EngineChoice&) const = default;
};

/// The way back from name(). Throws RunError where it is no such name.
EngineChoice choice_named(const std::string& name);

/// What cuDNN notes of an engine: of its arithmetic, but for the last.
struct EngineNotes {
  bool tensor_cores = false;
  bool narrower_inputs = false;  ///< rounds what it reads to fewer bits
  bool narrower_sums = false;    ///< adds up in fewer bits than fp32 somewhere
  bool transforms = false;       ///< multiplies transforms (Winograd, Fourier) of what it reads
  bool nondeterministic = false;
  bool compiled = false;  ///< for the graph, when its plan is made
};

/// Whether that is the arithmetic of `precision` (docs/arithmetic.md).
bool fits(const EngineNotes& notes, Precision precision);

}  // namespace hios::cuda::graph
