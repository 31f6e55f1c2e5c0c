#pragma once

#include <map>
#include <string_view>

#include "hios/onnx/read/layer_emitter.h"

/// The operators by family: each adds its rows to the table.
namespace hios::onnx {

using Handlers = std::map<std::string_view, Handler>;

void add_elementwise(Handlers& handlers);
void add_convolutions(Handlers& handlers);
void add_pools(Handlers& handlers);
void add_normalizations(Handlers& handlers);
void add_reductions(Handlers& handlers);
void add_moves(Handlers& handlers);
void add_joins(Handlers& handlers);
void add_resizes(Handlers& handlers);

/// How ONNX writes a function: the operator, and the names and defaults of its attributes.
struct UnarySpelling {
  std::string_view type;
  Unary::Function function;
  const char* alpha = nullptr;
  float alpha_default = 0;
  const char* beta = nullptr;
  float beta_default = 0;
  std::int64_t since = 7;  ///< the opset that it came with
};
/// Null: in this opset no single operator without further inputs is the function.
const UnarySpelling* unary_spelling(Unary::Function function, std::int64_t opset);

/// a ∘ b with ONNX's broadcast; either may be a constant.
View combine(LayerEmitter& emitter, Binary::Function function, const View& a, const View& b);
/// A function of each value.
View apply(LayerEmitter& emitter, const Unary& unary, const View& x);

}  // namespace hios::onnx
