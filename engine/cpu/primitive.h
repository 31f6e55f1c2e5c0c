#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/operators.h"

namespace hios::cpu {

/// A oneDNN primitive between tensors that stay where they are; only its scratchpad may move. Made
/// under, and run with, the threads of its core share (see ConvolutionPrimitive).
class FixedPrimitive {
 public:
  static constexpr std::size_t kMostArguments = 4;  ///< beside the scratchpad
  struct Argument {
    int role;  ///< DNNL_ARG_…
    dnnl::memory memory;
  };

  /// `scratchpad`: of a description with a scratchpad of the user's.
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
  dnnl::memory scratchpad_;
  const void* scratch_at_ = nullptr;
  std::array<dnnl_exec_arg_t, kMostArguments + 1> arguments_{};
  int argument_count_ = 0;
  Scratch& scratch_;
};

/// At `data`, which oneDNN wants as what it could write to.
inline dnnl::memory memory_at(const dnnl::memory::desc& layout, const dnnl::engine& engine,
                              const void* data) {
  return {layout, engine, const_cast<void*>(data)};
}

}  // namespace hios::cpu
