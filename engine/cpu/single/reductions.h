#pragma once

#include <array>
#include <cstdint>

#include "engine/cpu/kernels/parallel.h"
#include "engine/cpu/single/reduction_space.h"

namespace hios::cpu {

/// Returns the number of doubles that reduce_items needs for its partial results.
inline std::int64_t partial_results(const ReductionSpace& space) {
  return space.parts() > 1 ? space.parts() * space.items() : 0;
}

/// Computes results[item] = finish(op over the item's values, item), on a team. `centers` by item;
/// null: zeros. `partial`: partial_results(space) doubles.
template <class Op, class Finish>
void reduce_items(const ReductionSpace& space, int threads, const float* input, const Op& op,
                  const double* centers, double* partial, double* results, Finish&& finish) {
  const std::int64_t parts = space.parts();
  double* const to = parts > 1 ? partial : results;
  parallel_shares(
      threads, static_cast<std::size_t>(space.blocks() * parts),
      [&](std::size_t begin, std::size_t end) {
        static constexpr std::array<double, kBlockItems> kZeros{};
        for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
          const ReductionSpace::Block block = space.block(i / parts);
          const std::int64_t part = i % parts;
          double* const out = to + part * space.items() + block.first_item;
          reduce_part(space, input, block, part, op,
                      centers == nullptr ? kZeros.data() : centers + block.first_item, out);
          if (parts > 1) continue;
          for (std::int64_t j = 0; j < block.items; ++j) {
            out[j] = finish(out[j], block.first_item + j);
          }
        }
      });
  if (parts == 1) return;
  for (std::int64_t item = 0; item < space.items(); ++item) {
    double result = op.start;
    for (std::int64_t part = 0; part < parts; ++part) {
      result = op.join(result, partial[part * space.items() + item]);
    }
    results[item] = finish(result, item);
  }
}

}  // namespace hios::cpu
