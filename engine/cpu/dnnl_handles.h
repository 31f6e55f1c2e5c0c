#pragma once

#include <string>
#include <utility>

#include <dnnl_debug.h>
#include <dnnl.hpp>

#include "hios/base/error.h"
#include "hios/model/tensor.h"

namespace hios::cpu {

/// Calls oneDNN; turns its error into a RunError with the action and oneDNN's own name for the
/// failure. `doing` returns the action as std::string; it is called only after a failure.
template <class Doing, class Call>
decltype(auto) with_dnnl(Doing&& doing, Call&& call) {
  try {
    return call();
  } catch (const dnnl::error& error) {
    throw RunError("oneDNN, " + std::string(doing()) + ": " + error.message + " (" +
                   dnnl_status2str(error.status) + ")");
  }
}

/// Returns the layout of tensors on this device.
inline dnnl::memory::desc nhwc(const Shape& shape) {
  return {{shape.n, shape.c, shape.h, shape.w},
          dnnl::memory::data_type::f32,
          dnnl::memory::format_tag::nhwc};
}

/// Describes a `Primitive` from `arguments` in oneDNN's order. oneDNN 3 takes the engine first and
/// has no operation descriptors; oneDNN 2 makes one first.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc described(const dnnl::engine& engine,
                                             const dnnl::primitive_attr& attributes,
                                             Arguments&&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, std::forward<Arguments>(arguments)..., attributes};
#else
  return {typename Primitive::desc(std::forward<Arguments>(arguments)...), attributes, engine};
#endif
}

}  // namespace hios::cpu
