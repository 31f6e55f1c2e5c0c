#pragma once

#include <nvtx3/nvToolsExt.h>

namespace hios::cuda {

/// A named range on the timelines of NVIDIA's tools (NVTX), from here to the end of the scope: the
/// time in which the host queues something, with the GPU's work for it. Without such a tool it
/// costs the test of two pointers. The name is copied.
class ToolRange {
 public:
  explicit ToolRange(const char* name) { nvtxRangePushA(name); }
  ~ToolRange() { nvtxRangePop(); }
  ToolRange(const ToolRange&) = delete;
  ToolRange& operator=(const ToolRange&) = delete;
};

}  // namespace hios::cuda
