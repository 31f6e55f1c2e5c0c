// Rows of a table by index. The threads share the indices; each row is one copy.
#include <algorithm>

#include "engine/backend/layers/rows.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {
namespace {

struct GatherTask {
  const float *indices, *table;
  float* output;
  std::int64_t rows, columns;
  std::shared_ptr<const PackedWeights> held;  ///< the table, if it is a constant

  /// Copies the rows of the indices [begin, end).
  void run(std::size_t begin, std::size_t end) const {
    float* to = output + static_cast<std::int64_t>(begin) * columns;
    for (std::size_t i = begin; i < end; ++i, to += columns) {
      const std::int64_t row = row_at(indices[i], rows);
      if (row < 0) {
        std::fill_n(to, columns, 0.0f);
      } else {
        std::copy_n(table + row * columns, columns, to);
      }
    }
  }
};

}  // namespace

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer& layer,
                                           const Gather& gather) {
  const Source indices = binding.inputs[InputIndex(0)];
  GatherTask task{indices.floats(), nullptr, binding.output, 0, 0, nullptr};
  Shape table;
  if (gather.table) {
    task.held = binding.weights.for_own_loops(*binding.operation.model, layer, binding.source);
    task.table = task.held->weight_floats();
    table = *gather.table;
  } else {
    const Source computed = binding.inputs[InputIndex(1)];
    task.table = computed.floats();
    table = computed.shape;
  }
  task.rows = table.elements() / table.c;
  task.columns = table.c;
  const auto count = static_cast<std::size_t>(indices.shape.elements());
  const int threads = team_for(binding.share, binding.output_shape().elements());
  return make_operator([task, count, threads] {
    parallel_shares(threads, count,
                    [&task](std::size_t begin, std::size_t end) { task.run(begin, end); });
  });
}

}  // namespace hios::cpu
