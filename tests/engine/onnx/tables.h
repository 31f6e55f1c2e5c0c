#pragma once

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "engine/onnx/written_out.h"

/// Tables of values by index, for networks whose values plain loops compute, too.
namespace hios::test {

using List = std::vector<std::int64_t>;

inline std::int64_t count_of(const List& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

/// Returns the index of each element of a tensor, row-major.
inline std::vector<List> indices_in(const List& dims) {
  std::vector<List> all;
  for (std::int64_t i = 0; i < count_of(dims); ++i) {
    List index(dims.size());
    std::int64_t rest = i;
    for (std::size_t k = dims.size(); k-- > 0; rest /= dims[k]) index[k] = rest % dims[k];
    all.push_back(index);
  }
  return all;
}

/// A row-major tensor.
struct Table {
  List dims;
  std::vector<float> values;

  float at(const List& index) const {
    std::int64_t position = 0;
    for (std::size_t k = 0; k < dims.size(); ++k) position = position * dims[k] + index[k];
    return values.at(static_cast<std::size_t>(position));
  }
};

/// Computes a value for each index.
inline Table table_of(const List& dims, const std::function<double(const List&)>& value) {
  Table table{dims, {}};
  for (const List& index : indices_in(dims))
    table.values.push_back(static_cast<float>(value(index)));
  return table;
}

/// Returns the input of first_output(), as row-major values of these dims. REQUIRES: not four.
inline Table wide_input(const List& dims) {
  Random random(11);
  return table_of(dims, [&](const List&) { return random.uniform(-5, 5); });
}

/// Expects these dims and values of the network, whose last value becomes its output.
inline void expect_values(Net& net, const Table& wanted) {
  net.output(net.last().output(0));
  const Model model = onnx::import_model(net.write(), {.kernel = layer_kernel()});
  EXPECT_EQ(model.named_outputs().front().dims, wanted.dims);
  std::vector<float> got = first_output(model);
  if (wanted.dims.size() == 4) got = in_row_major_order(got, wanted.dims);
  ASSERT_EQ(got.size(), wanted.values.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], wanted.values[i], 1e-5 + 1e-4 * std::fabs(wanted.values[i])) << i;
  }
}

inline std::string table_constant(Net& net, const Table& table) {
  return net.constant(table.dims, table.values);
}

/// Returns values between -1 and 1 that differ from index to index.
inline Table waves(const List& dims, double step) {
  double at = 0.3;
  return table_of(dims, [&](const List&) { return std::sin(at += step); });
}

inline std::string integer_table(Net& net, const List& dims, const List& values) {
  const std::string name = "table_" + std::to_string(net.graph().initializer_size());
  auto& tensor = net.integers(name, values);
  tensor.clear_dims();
  for (const std::int64_t extent : dims) tensor.add_dims(extent);
  return name;
}

}  // namespace hios::test
