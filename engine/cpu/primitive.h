#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/operators.h"

namespace hios::cpu {

/// A oneDNN primitive between tensors at fixed addresses, or in scratch. It is made under, and run
/// with, the number of threads of its core share (see ConvolutionPrimitive).
class FixedPrimitive {
 public:
  static constexpr std::size_t kMostArguments = 5;
  struct Argument {
    int role;  ///< DNNL_ARG_…
    dnnl::memory memory;
    std::optional<std::size_t> in_scratch = {};  ///< its offset there, in bytes
  };

  /// Reserves the scratch that its arguments use.
  FixedPrimitive(const Binding& binding, dnnl::primitive primitive,
                 std::vector<Argument> arguments);
  /// The same, with the scratchpad that its description needs at the start of the scratch.
  FixedPrimitive(const Binding& binding, dnnl::primitive primitive,
                 const dnnl::memory::desc& scratchpad, std::vector<Argument> arguments);

  /// Runs the primitive. Allocates nothing itself.
  void run();

 private:
  std::string name_;  // for messages
  int threads_;
  dnnl::stream stream_;
  dnnl::primitive primitive_;
  std::vector<Argument> kept_;
  const void* scratch_at_ = nullptr;
  std::array<dnnl_exec_arg_t, kMostArguments> arguments_{};
  Scratch& scratch_;
};

/// Makes an argument in the stream's scratch, at offset `begin`. REQUIRES: a multiple of 64.
inline FixedPrimitive::Argument in_scratch(int role, const dnnl::memory::desc& layout,
                                           const dnnl::engine& engine, std::size_t begin) {
  return {role, dnnl::memory(layout, engine, DNNL_MEMORY_NONE), begin};
}

/// Wraps memory at `data`. oneDNN wants a pointer through which it could write.
inline dnnl::memory memory_at(const dnnl::memory::desc& layout, const dnnl::engine& engine,
                              const void* data) {
  return {layout, engine, const_cast<void*>(data)};
}

}  // namespace hios::cpu
