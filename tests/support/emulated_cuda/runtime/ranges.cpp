#include "support/emulated_cuda/runtime/ranges.h"

#include <utility>

#include "support/emulated_cuda/nvtx3/nvToolsExt.h"

namespace hios::cuda_emulation {
namespace {

thread_local bool is_noted = false;
thread_local std::vector<std::string> open_ranges, all_ranges;

}  // namespace

void note_ranges() {
  is_noted = true;
  open_ranges.clear();
  all_ranges.clear();
}

std::vector<std::string> noted_ranges() {
  is_noted = false;
  return std::exchange(all_ranges, {});
}

}  // namespace hios::cuda_emulation

using namespace hios::cuda_emulation;

int nvtxRangePushA(const char* name) {
  if (!is_noted) return 0;
  const std::string around = open_ranges.empty() ? "" : open_ranges.back() + "/";
  open_ranges.push_back(around + name);
  all_ranges.push_back(open_ranges.back());
  return static_cast<int>(open_ranges.size()) - 1;
}

int nvtxRangePop() {
  if (!open_ranges.empty()) open_ranges.pop_back();
  return static_cast<int>(open_ranges.size());
}
