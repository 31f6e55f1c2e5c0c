#pragma once

#include <map>
#include <string_view>

#include "hios/onnx/writer.h"

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

/// a ∘ b with ONNX's broadcast; either may be a constant.
View combine(Writer& writer, Binary::Function function, const View& a, const View& b);
/// A function of each value.
View apply(Writer& writer, const Unary& unary, const View& x);

}  // namespace hios::onnx
