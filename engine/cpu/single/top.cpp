// The first values of each pixel's channels, by a heap of the best so far. The threads share the
// pixels.
#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/backend/layers/ranking.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

struct TopTask {
  TopK kind;
  const float* input;
  float* output;
  std::int64_t columns;

  /// Finds the values of a row. `first`: memory for k positions.
  void run_row(std::int64_t row, std::int64_t* first) const {
    const float* const values = input + row * columns;
    std::int64_t* const last = first + kind.k;
    const auto before = [&](std::int64_t a, std::int64_t b) {
      return comes_first(values[a], a, values[b], b, kind.largest);
    };
    std::iota(first, last, std::int64_t{0});
    std::make_heap(first, last, before);  // the worst of them on top
    for (std::int64_t i = kind.k; i < columns; ++i) {
      // Most values are none of the best: a quick answer, but for NaN. Later equal ones come after.
      const float x = values[i], worst = values[*first];
      if (kind.largest ? x <= worst : x >= worst) continue;
      if (!before(i, *first)) continue;
      std::pop_heap(first, last, before);
      *(last - 1) = i;
      std::push_heap(first, last, before);
    }
    std::sort_heap(first, last, before);
    float* const to = output + row * kind.k;
    for (std::int64_t i = 0; i < kind.k; ++i)
      to[i] = kind.positions ? static_cast<float>(first[i]) : values[first[i]];
  }
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer&, const TopK& kind) {
  const Source input = binding.inputs[InputIndex(0)];
  const TopTask task{kind, input.floats(), binding.output, input.shape.c};
  const auto rows = static_cast<std::size_t>(input.shape.elements() / input.shape.c);
  const int threads = team_for(binding.share, input.shape.elements());
  const auto found = std::make_shared<std::vector<std::int64_t>>(static_cast<std::size_t>(threads) *
                                                                 static_cast<std::size_t>(kind.k));
  return make_operator([task, found, rows, threads] {
    parallel(threads, [&](int worker, int workers) {
      const Share share = share_of(rows, worker, workers);
      std::int64_t* const mine = found->data() + worker * task.kind.k;
      for (std::size_t row = share.begin; row < share.end; ++row)
        task.run_row(static_cast<std::int64_t>(row), mine);
    });
  });
}

}  // namespace hios::cpu
