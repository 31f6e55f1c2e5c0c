#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/operators.h"

namespace hios::cpu {

/// A oneDNN primitive between tensors that stay where they are, but for those in scratch. Made
/// under, and run with, the threads of its core share (see ConvolutionPrimitive).
class FixedPrimitive {
 public:
  static constexpr std::size_t kMostArguments = 5;
  struct Argument {
    int role;  ///< DNNL_ARG_…
    dnnl::memory memory;
    std::optional<std::size_t> in_scratch = {};  ///< where it begins there, in bytes
  };

  /// Reserves what its arguments take of the scratch.
  FixedPrimitive(const Binding& binding, dnnl::primitive primitive,
                 std::vector<Argument> arguments);
  /// The same, with the scratchpad that its description asks for, at the scratch's begin.
  FixedPrimitive(const Binding& binding, dnnl::primitive primitive,
                 const dnnl::memory::desc& scratchpad, std::vector<Argument> arguments);

  /// Allocates nothing of ours.
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

/// In the stream's scratch, from `begin` on, which is a multiple of 64.
inline FixedPrimitive::Argument in_scratch(int role, const dnnl::memory::desc& layout,
                                           const dnnl::engine& engine, std::size_t begin) {
  return {role, dnnl::memory(layout, engine, DNNL_MEMORY_NONE), begin};
}

/// At `data`, which oneDNN wants as what it could write to.
inline dnnl::memory memory_at(const dnnl::memory::desc& layout, const dnnl::engine& engine,
                              const void* data) {
  return {layout, engine, const_cast<void*>(data)};
}

}  // namespace hios::cpu
