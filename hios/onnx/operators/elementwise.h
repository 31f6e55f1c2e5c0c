#pragma once

#include <cstdint>
#include <string_view>

#include "hios/onnx/operators/registry.h"

/// Functions of each value, and of two with broadcast.
namespace hios::onnx {

/// The ONNX operator of a function, with the names and defaults of its attributes.
struct UnarySpelling {
  std::string_view type;
  Unary::Function function;
  const char* alpha = nullptr;
  float alpha_default = 0;
  const char* beta = nullptr;
  float beta_default = 0;
  std::int64_t since = 7;  ///< the operator's first opset
};
/// Returns the operator that is this function; null if the opset has none without further inputs.
const UnarySpelling* unary_spelling(Unary::Function function, std::int64_t opset);

/// An attribute of opsets before 7; since then every such node broadcasts.
inline const UnreadAttribute kOldBroadcast{"broadcast", {0, 1}};

/// Adds a ∘ b with ONNX's broadcast. REQUIRES: at most one of them is a constant.
View combine(LayerEmitter& emitter, Binary::Function function, const View& a, const View& b);
/// Adds a function of each value.
View apply(LayerEmitter& emitter, const Unary& unary, const View& x);

/// Rounds each value towards 0.
View truncated(LayerEmitter& emitter, const View& x);

void add_elementwise(Operators& operators);

}  // namespace hios::onnx
