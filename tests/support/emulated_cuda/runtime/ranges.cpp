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
  all_ranges.clear();
}

std::vector<std::string> noted_ranges() {
  is_noted = false;
  return std::exchange(all_ranges, {});
}

std::string open_range() { return open_ranges.empty() ? std::string() : open_ranges.back(); }

}  // namespace hios::cuda_emulation

using namespace hios::cuda_emulation;

int nvtxRangePushA(const char* name) {
  open_ranges.emplace_back(name);
  if (is_noted) {
    std::string path;
    for (const std::string& open : open_ranges) path += (path.empty() ? "" : "/") + open;
    all_ranges.push_back(path);
  }
  return static_cast<int>(open_ranges.size()) - 1;
}

int nvtxRangePop() {
  if (!open_ranges.empty()) open_ranges.pop_back();
  return static_cast<int>(open_ranges.size());
}
