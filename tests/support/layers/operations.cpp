#include "support/layers/operations.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "engine/backend/host_copies.h"
#include "engine/reference/backend.h"
#include "hios/base/numbers/random.h"
#include "hios/model/channel_slice.h"
#include "support/layers/operation_lists.h"

namespace hios::test {
namespace {

OperatorLayers layers_from(const Model& model, std::size_t first) {
  std::vector<LayerId> layers;
  for (std::size_t i = first; i < model.layers().size(); ++i) layers.emplace_back(i);
  return fuse(model, std::move(layers));
}

struct ConvCase {
  const char* name;
  Shape input;
  Conv conv;
};

std::vector<ConvCase> conv_cases() {
  return {
      {"1x1", {1, 16, 7, 9}, {32, {1, 1}, {1, 1}, {0, 0}}},
      {"1x1_odd_channels", {1, 13, 5, 11}, {17, {1, 1}, {1, 1}, {0, 0}}},
      {"1x1_s2", {1, 24, 9, 8}, {20, {1, 1}, {2, 2}, {0, 0}}},
      {"1x1_one_pixel", {1, 40, 1, 1}, {33, {1, 1}, {1, 1}, {0, 0}}},
      {"1x1_tokens", {9, 24, 1, 1}, {20, {1, 1}, {1, 1}, {0, 0}}},
      {"1x1_rows_of_tokens", {2, 24, 9, 1}, {20, {1, 1}, {1, 1}, {0, 0}}},
      {"1x1_no_bias", {2, 10, 6, 5}, {12, {1, 1}, {1, 1}, {0, 0}, 1, false}},
      {"3x3_rgb_s2", {1, 3, 17, 19}, {32, {3, 3}, {2, 2}, {0, 0}}},
      {"3x3_p1", {1, 8, 9, 7}, {16, {3, 3}, {1, 1}, {1, 1}}},
      {"3x3_p1_batch2", {2, 5, 6, 7}, {9, {3, 3}, {1, 1}, {1, 1}}},
      {"3x3_s2_p1_even", {1, 6, 8, 10}, {11, {3, 3}, {2, 2}, {1, 1}}},
      {"3x3_wide", {1, 96, 5, 5}, {80, {3, 3}, {1, 1}, {1, 1}}},
      {"5x5_p2", {1, 12, 6, 11}, {24, {5, 5}, {1, 1}, {2, 2}}},
      {"1x7_p3", {1, 16, 9, 9}, {16, {1, 7}, {1, 1}, {0, 3}}},
      {"7x1_p3", {1, 16, 9, 9}, {20, {7, 1}, {1, 1}, {3, 0}}},
      {"7x7_s2_p3", {1, 3, 15, 14}, {16, {7, 7}, {2, 2}, {3, 3}}},
      {"3x2_s3x2_p1x0", {1, 7, 11, 9}, {10, {3, 2}, {3, 2}, {1, 0}}},
      {"kernel_over_image", {1, 4, 3, 2}, {6, {5, 5}, {1, 1}, {2, 2}}},
      {"groups_2", {1, 12, 7, 6}, {20, {3, 3}, {1, 1}, {1, 1}, 2}},
      {"groups_4_s2", {2, 16, 7, 9}, {8, {3, 3}, {2, 2}, {1, 1}, 4, false}},
      {"depthwise_3x3", {1, 19, 8, 7}, {19, {3, 3}, {1, 1}, {1, 1}, 19}},
      {"depthwise_5x5_s2", {1, 32, 11, 9}, {32, {5, 5}, {2, 2}, {2, 2}, 32, false}},
      {"depthwise_7x7", {2, 22, 6, 6}, {22, {7, 7}, {1, 1}, {3, 3}, 22}},
      {"depthwise_times_two", {1, 9, 6, 5}, {18, {3, 3}, {1, 1}, {1, 1}, 9}},
  };
}

/// Adds conv, conv + relu, relu + conv, and the last two after a sum of three.
void add_convs(CaseList& list) {
  for (const ConvCase& c : conv_cases()) {
    const std::string name = std::string("conv_") + c.name;
    list.add(name, c.input, {}, [&](ModelBuilder& b, Inputs x) { b.conv("conv", x[0], c.conv); });
    list.add(name + "_relu", c.input, {},
             [&](ModelBuilder& b, Inputs x) { b.relu("relu", b.conv("conv", x[0], c.conv)); });
    list.add("relu_" + name, c.input, {},
             [&](ModelBuilder& b, Inputs x) { b.conv("conv", b.relu("relu", x[0]), c.conv); });
  }
  const Conv conv{20, {3, 3}, {1, 1}, {1, 1}};
  list.add("sum3_conv_relu", {1, 5, 7, 6}, {11, 11, 11}, [&](ModelBuilder& b, Inputs x) {
    b.relu("relu", b.conv("conv", b.sum("sum", {x.begin(), x.end()}), conv));
  });
  list.add("sum2_relu_conv", {2, 5, 7, 6}, {16, 16}, [&](ModelBuilder& b, Inputs x) {
    b.conv("conv", b.relu("relu", b.sum("sum", {x.begin(), x.end()})), conv);
  });
}

/// Adds convolutions that add an input, with and without a relu after them: whole images, blocks of
/// rows, with a stride, and with a relu before, which no fast form covers.
void add_addends(CaseList& list) {
  struct AddendCase {
    const char* name;
    Shape input;  ///< shape of both inputs
    Conv conv;
  };
  const AddendCase cases[] = {
      {"1x1", {1, 16, 7, 9}, {16, {1, 1}, {1, 1}, {0, 0}}},
      {"1x1_batch2_odd", {2, 13, 5, 6}, {13, {1, 1}, {1, 1}, {0, 0}, 1, false}},
      {"1x1_tokens", {9, 24, 1, 1}, {24, {1, 1}, {1, 1}, {0, 0}}},
      {"1x1_blocks", {1, 64, 70, 41}, {64, {1, 1}, {1, 1}, {0, 0}}},
      {"3x3", {2, 20, 6, 5}, {20, {3, 3}, {1, 1}, {1, 1}}},
      {"depthwise", {1, 19, 8, 7}, {19, {3, 3}, {1, 1}, {1, 1}, 19}},
      {"groups", {1, 24, 7, 7}, {24, {3, 3}, {1, 1}, {1, 1}, 4}},
  };
  for (const AddendCase& c : cases) {
    for (const bool relu : {false, true}) {
      list.add(std::string("conv_add_") + (relu ? "relu_" : "") + c.name, c.input,
               {c.conv.out_channels, c.conv.out_channels}, [&](ModelBuilder& b, Inputs x) {
                 const TensorId sum = b.sum("sum", {x[1], b.conv("conv", x[0], c.conv)});
                 if (relu) b.relu("relu", sum);
               });
    }
    list.add(std::string("relu_conv_add_") + c.name, c.input,
             {c.conv.out_channels, c.conv.out_channels}, [&](ModelBuilder& b, Inputs x) {
               b.sum("sum", {b.conv("conv", b.relu("relu", x[0]), c.conv), x[1]});
             });
  }
  const Conv separable{17, {3, 3}, {1, 1}, {1, 1}, 17}, pointwise{17, {1, 1}, {1, 1}, {0, 0}};
  list.add("separable_add", {1, 5, 9, 8}, {17, 17}, [&](ModelBuilder& b, Inputs x) {
    const TensorId middle = b.conv("depthwise", b.relu("relu", x[0]), separable);
    b.sum("sum", {x[1], b.conv("pointwise", middle, pointwise)});
  });
}

void add_pools(CaseList& list) {
  struct PoolCase {
    const char* name;
    Shape input;
    Extent kernel, stride, padding;
  };
  const PoolCase cases[] = {
      {"3x3_s2", {1, 16, 9, 7}, {3, 3}, {2, 2}, {0, 0}},
      {"3x3_p1", {1, 19, 5, 8}, {3, 3}, {1, 1}, {1, 1}},
      {"3x3_s2_p1_batch2", {2, 35, 7, 6}, {3, 3}, {2, 2}, {1, 1}},
      {"2x3_s1x2_p1x0", {1, 5, 6, 7}, {2, 3}, {1, 2}, {1, 0}},
      {"5x5_p2", {1, 67, 4, 3}, {5, 5}, {1, 1}, {2, 2}},
  };
  for (const PoolCase& c : cases) {
    for (const bool max : {true, false}) {
      const Pool pool{max ? Pool::Kind::kMax : Pool::Kind::kAverage, c.kernel, c.stride, c.padding};
      list.add(std::string(max ? "max_pool_" : "average_pool_") + c.name, c.input, {},
               [&](ModelBuilder& b, Inputs x) { b.pool("pool", x[0], pool); });
    }
  }
  for (const Shape& shape : {Shape{1, 64, 8, 8}, Shape{2, 37, 5, 3}, Shape{1, 70, 1, 1}}) {
    list.add("global_average_pool_" + shape.to_string(), shape, {},
             [](ModelBuilder& b, Inputs x) { b.global_average_pool("pool", x[0]); });
  }
}

/// Adds relu, sum, concat, concat of sums.
void add_elementwise(CaseList& list) {
  list.add("relu", {1, 19, 5, 7}, {}, [](ModelBuilder& b, Inputs x) { b.relu("relu", x[0]); });
  for (const std::size_t inputs : {1u, 2u, 3u, 5u, 8u}) {
    list.add("sum_of_" + std::to_string(inputs), {2, 3, 5, 7},
             std::vector<std::int64_t>(inputs, 23), [](ModelBuilder& b, Inputs x) {
               b.sum("sum", {x.begin(), x.end()});
             });
  }
  list.add("sum_same_tensor_twice", {1, 3, 5, 7}, {16, 16}, [](ModelBuilder& b, Inputs x) {
    b.sum("sum", {x[0], x[1], x[0]});
  });
  list.add("concat_of_2", {1, 3, 6, 5}, {16, 32}, [](ModelBuilder& b, Inputs x) {
    b.concat("concat", {x[0], x[1]});
  });
  list.add("concat_odd", {2, 3, 3, 5}, {5, 1, 17, 8}, [](ModelBuilder& b, Inputs x) {
    b.concat("concat", {x.begin(), x.end()});
  });
  list.add("concat_same_tensor_twice", {1, 3, 4, 4}, {7, 9}, [](ModelBuilder& b, Inputs x) {
    b.concat("concat", {x[0], x[1], x[0]});
  });
  list.add("concat_of_sums", {1, 3, 5, 6}, {11, 11, 13, 13, 6}, [](ModelBuilder& b, Inputs x) {
    const TensorId left = b.sum("left", {x[0], x[1]});
    const TensorId right = b.sum("right", {x[2], x[3]});
    b.concat("concat", {left, x[4], right});
  });
  list.add("concat_of_sums_shared_inputs", {2, 3, 4, 5}, {14, 14, 14},
           [](ModelBuilder& b, Inputs x) {
             const TensorId first = b.sum("first", {x[0], x[1]});
             const TensorId second = b.sum("second", {x[1], x[1]});
             const TensorId third = b.sum("third", {x[2], x[0]});
             b.concat("concat", {x[2], first, second, third});
           });
}

/// Adds slices of a wide tensor, alone and before a concat.
void add_slices(CaseList& list) {
  for (const auto& [channels, first, count] :
       {std::array<std::int64_t, 3>{16, 4, 8}, {16, 3, 8}, {17, 0, 5}, {9, 8, 1}}) {
    list.add("slice_" + std::to_string(first) + "_of_" + std::to_string(channels), {2, 3, 5, 6},
             {channels}, [&](ModelBuilder& b, Inputs x) {
               b.add("slice", channel_slice(b.shape(x[0]), first, count), {x[0]});
             });
  }
  list.add("concat_of_slices_and_sums", {2, 3, 4, 5}, {24, 8, 8}, [](ModelBuilder& b, Inputs x) {
    const auto slice = [&](const char* name, std::int64_t first, std::int64_t count) {
      return b.add(name, channel_slice(b.shape(x[0]), first, count), {x[0]});
    };
    const TensorId last = slice("last", 20, 4), sum = b.sum("sum", {x[1], x[2]});
    b.concat("concat", {slice("odd", 3, 7), x[2], sum, last});
  });
}

std::vector<OperationCase> all_cases() {
  CaseList list;
  add_convs(list);
  add_addends(list);
  add_separables(list);
  add_expanded(list);
  add_pools(list);
  add_elementwise(list);
  add_slices(list);
  return list.take();
}

constexpr std::size_t kGuard = 64;        ///< elements before and after the output
constexpr float kGuardValue = -12344.0f;  // a half, too

}  // namespace

OperationCase make_operation(std::string name, const Shape& input,
                             const std::vector<std::int64_t>& channels,
                             const BuildOperator& build) {
  ModelBuilder builder(name, input);
  std::vector<TensorId> tensors;
  for (const std::int64_t count : channels) {
    const Conv feed{.out_channels = count, .kernel = {}, .stride = {}, .padding = {0, 0}};
    tensors.push_back(
        builder.conv("feed_" + std::to_string(tensors.size()), builder.input(), feed));
  }
  if (tensors.empty()) tensors.push_back(builder.input());
  build(builder, tensors);
  Model model = std::move(builder).build();
  OperatorLayers layers = layers_from(model, channels.size());
  return {std::move(name), std::move(model), std::move(layers), {}};
}

OperationCase make_operation(std::string name, const std::vector<Shape>& inputs,
                             const BuildOperator& build) {
  ModelBuilder builder(name, inputs.front());
  std::vector<TensorId> tensors;
  if (inputs.size() == 1) tensors.push_back(builder.input());
  for (std::size_t i = 0; tensors.size() < inputs.size(); ++i) {
    const Move feed{.output = inputs[i], .dimensions = {{inputs[i].elements(), 0}}};
    tensors.push_back(builder.add("feed_" + std::to_string(i), feed, {builder.input()}));
  }
  build(builder, tensors);
  Model model = std::move(builder).build();
  OperatorLayers layers = layers_from(model, inputs.size() == 1 ? 0 : inputs.size());
  return {std::move(name), std::move(model), std::move(layers), {}};
}

const std::vector<OperationCase>& operation_cases() {
  static const std::vector<OperationCase> cases = all_cases();
  return cases;
}

std::unique_ptr<Backend> reference_in(Precision precision) {
  BackendOptions options;
  options.precision = precision;
  return reference::make_backend(options);
}

std::vector<float> run_operation(Backend& backend, const OperationCase& operation_case, int threads,
                                 const std::vector<std::vector<float>>& inputs,
                                 TensorSource& source) {
  const Model& model = operation_case.model;
  std::map<TensorId, std::unique_ptr<Buffer>> tensors;
  std::vector<const std::byte*> pointers;
  for (const TensorId id : operation_case.layers.inputs) {
    std::unique_ptr<Buffer>& buffer = tensors[id];
    if (!buffer) {
      const std::vector<float>& values = inputs.at(tensors.size() - 1);
      if (values.size() != static_cast<std::size_t>(model.tensor(id).shape.elements())) {
        throw std::runtime_error(operation_case.name + ": an input of the wrong size");
      }
      buffer = backend.allocate(values.size() * backend.element_bytes(), "a test's input");
      write_floats(backend, buffer->data(), values);
    }
    pointers.push_back(buffer->data());
  }

  const auto elements = static_cast<std::size_t>(operation_case.output_shape().elements());
  const auto output = backend.allocate((elements + 2 * kGuard) * backend.element_bytes(),
                                       "a test's guarded output");
  std::vector<float> guarded(elements + 2 * kGuard, kGuardValue);
  std::fill_n(guarded.begin() + kGuard, elements, std::numeric_limits<float>::quiet_NaN());
  write_floats(backend, output->data(), guarded);

  const std::vector<CoreShare> share = core_shares(1, threads);
  const auto bound =
      backend.bind(operation_case.operation(), pointers,
                   output->data() + kGuard * backend.element_bytes(), share[0], source);
  const BoundGroup group{bound.get()};
  backend.run_stage(std::span(&group, 1), share, nullptr, nullptr);
  backend.synchronize();
  guarded = read_floats(backend, output->data(), guarded.size());

  const auto untouched = [](float value) { return value == kGuardValue; };
  const std::span all(guarded);
  if (!std::ranges::all_of(all.first(kGuard), untouched) ||
      !std::ranges::all_of(all.last(kGuard), untouched)) {
    throw std::runtime_error(operation_case.name + ": wrote outside its output");
  }
  return {guarded.begin() + kGuard, guarded.end() - kGuard};
}

std::vector<std::vector<float>> random_inputs(const OperationCase& operation_case,
                                              std::uint64_t seed) {
  const InputRange& range = operation_case.range;
  std::vector<std::vector<float>> result;
  std::vector<TensorId> seen;
  for (const TensorId id : operation_case.layers.inputs) {
    if (std::ranges::find(seen, id) != seen.end()) continue;
    seen.push_back(id);
    const Tensor& tensor = operation_case.model.tensor(id);
    Random random(seed, operation_case.name + "/" + tensor.name);
    std::vector<float>& values = result.emplace_back(tensor.shape.elements());
    for (float& value : values) value = static_cast<float>(random.uniform(range.low, range.high));
  }
  return result;
}

std::vector<float> run_operation(Backend& backend, const OperationCase& operation_case, int threads,
                                 std::uint64_t seed) {
  SeededSource source(seed);
  return run_operation(backend, operation_case, threads, random_inputs(operation_case, seed),
                       source);
}

}  // namespace hios::test
