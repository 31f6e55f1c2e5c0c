#pragma once

#include <cstdint>

#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {

/// Returns the columns of a product's panels: as many chunks as the kernel takes if these divide
/// all columns, else two. (Three with a rest took 1.1 times as long as two on 256 to 1024
/// channels.)
inline std::int64_t panel_columns(std::int64_t columns) {
  const std::int64_t most = kernels().panel_chunks * kernels().lanes;
  return columns % most == 0 ? most : 2 * kernels().lanes;
}

}  // namespace hios::cpu
