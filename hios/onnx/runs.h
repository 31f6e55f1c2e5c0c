#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hios/onnx/view.h"

/// How the values of a view lie in memory, and their copies.
namespace hios::onnx {

/// Adjacent axes that one loop can walk.
struct Run {
  std::int64_t size;
  std::int64_t stride;
};

/// Returns the runs of a view in this order of axes, outermost first. Axes of one element are left
/// out.
std::vector<Run> runs_of(const View& view, std::span<const std::size_t> order);

/// Writes the values along runs, outermost first. REQUIRES: at least one run, and values in each.
void copy_runs(const float* from, const std::vector<Run>& runs, float* to);

}  // namespace hios::onnx
