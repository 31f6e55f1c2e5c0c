// The comparison for the CPU backend: a network's layers as oneDNN calls in a bare loop, without
// our schedules, plans, executor or kernels. It is the best straightforward use of oneDNN: NHWC
// activations, weights in the layout that oneDNN selects, bias and a relu after a convolution fused
// into its primitive, memory reused by lifetime. It has no further optimisations: a relu before a
// convolution is a pass of its own, and so are depthwise, pointwise, sum and concat.
#include <algorithm>
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <dnnl.hpp>
#include <exception>
#include <iostream>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include <omp.h>

#include "engine/backend/arena.h"
#include "engine/backend/tensor_source.h"
#include "engine/cpu/convolutions/post_operations.h"
#include "engine/cpu/dnnl_handles.h"
#include "hios/base/error.h"
#include "hios/base/json/json_io.h"
#include "hios/base/numbers/precision.h"
#include "hios/base/numbers/statistics.h"
#include "hios/model/networks/networks.h"

namespace {

using dnnl::memory;
using hios::Layer;
using hios::LayerId;
using hios::Model;
using hios::Shape;
using hios::TensorId;
using hios::cpu::described;
using hios::cpu::nhwc;

using Arguments = std::unordered_map<int, memory>;
constexpr auto kFloat = memory::data_type::f32;

struct Call {
  dnnl::primitive primitive;
  Arguments arguments;
};

struct FreeAligned {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t(64)); }
};
using Floats = std::unique_ptr<float[], FreeAligned>;

Floats floats(std::size_t count) {
  auto* p = static_cast<float*>(::operator new[](count * sizeof(float), std::align_val_t(64)));
  std::fill_n(p, count, 0.0f);
  return Floats(p);
}

/// The network as a list of primitives over one block of memory.
class Network {
 public:
  Network(const Model& model, std::uint64_t seed);

  void run() {
    for (const Call& call : calls_) call.primitive.execute(stream_, call.arguments);
    stream_.wait();
  }

 private:
  void place_tensors();
  void add(const Layer& layer);
  void add_convolution(const Layer& layer, const hios::Conv& conv);
  void add_pool(const Layer& layer, const hios::Pool& pool);
  void add_sum(const Layer& layer);
  void add_concat(const Layer& layer);
  void add_relu(const Layer& layer);

  /// Returns the relu that is the only consumer of a convolution, and is fused into its primitive.
  const Layer* fused_relu(const Layer& layer) const;
  memory tensor(TensorId id) {
    return {nhwc(model_.tensor(id).shape), engine_, arena_.get() + offsets_[id.index()]};
  }
  memory filled(const memory::desc& layout, const float* plain, const memory::desc& plain_layout);

  const Model& model_;
  hios::SeededSource source_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  Floats arena_;
  std::vector<std::size_t> offsets_;  // in floats, by tensor
  std::vector<bool> done_;            // by layer: fused into an earlier one
  std::vector<Call> calls_;
};

Network::Network(const Model& model, std::uint64_t seed)
    : model_(model), source_(seed), done_(model.layers().size()) {
  place_tensors();
  const auto input = static_cast<std::size_t>(model.tensor(model.input()).shape.elements());
  source_.input(model, {arena_.get() + offsets_[0], input});
  for (std::size_t i = 0; i < model.layers().size(); ++i) {
    if (!done_[i]) add(model.layer(LayerId(i)));
  }
}

void Network::place_tensors() {
  std::vector<hios::Lifetime> lifetimes;
  const std::size_t end = model_.layers().size();
  for (std::size_t i = 0; i < model_.tensors().size(); ++i) {
    const hios::Tensor& tensor = model_.tensors()[i];
    std::size_t last = 0;
    for (const LayerId consumer : model_.consumers(TensorId(i))) {
      last = std::max(last, consumer.index());
    }
    const bool kept = !tensor.producer || model_.consumers(TensorId(i)).empty();
    lifetimes.push_back({tensor.shape.size_bytes(hios::element_bytes(hios::Precision::kFp32)),
                         tensor.producer ? tensor.producer->index() : 0, kept ? end : last});
  }
  const hios::ArenaLayout layout = hios::place_in_arena(lifetimes);
  for (const hios::Bytes offset : layout.offsets) offsets_.push_back(offset / sizeof(float));
  arena_ = floats(layout.peak_bytes / sizeof(float));
}

void Network::add(const Layer& layer) {
  if (const auto* conv = std::get_if<hios::Conv>(&layer.kind)) return add_convolution(layer, *conv);
  if (const auto* pool = std::get_if<hios::Pool>(&layer.kind)) return add_pool(layer, *pool);
  if (std::holds_alternative<hios::GlobalAveragePool>(layer.kind)) {
    const Shape& shape = model_.tensor(layer.inputs[0]).shape;
    return add_pool(layer, {hios::Pool::Kind::kAverage, {shape.h, shape.w}, {1, 1}, {0, 0}});
  }
  if (std::holds_alternative<hios::Sum>(layer.kind)) return add_sum(layer);
  if (std::holds_alternative<hios::Concat>(layer.kind)) return add_concat(layer);
  add_relu(layer);
}

const Layer* Network::fused_relu(const Layer& layer) const {
  const auto consumers = model_.consumers(layer.output);
  if (consumers.size() != 1) return nullptr;
  const Layer& consumer = model_.layer(consumers[0]);
  return std::holds_alternative<hios::Relu>(consumer.kind) ? &consumer : nullptr;
}

memory Network::filled(const memory::desc& layout, const float* plain,
                       const memory::desc& plain_layout) {
  memory from(plain_layout, engine_, const_cast<float*>(plain));
  memory to(layout, engine_);
  dnnl::reorder(from, to).execute(stream_, from, to);
  stream_.wait();
  return to;
}

void Network::add_convolution(const Layer& layer, const hios::Conv& conv) {
  const Shape& in = model_.tensor(layer.inputs[0]).shape;
  const std::int64_t g = conv.groups, kh = conv.kernel.h, kw = conv.kernel.w;
  const memory::dims filter_dims = g == 1
                                       ? memory::dims{conv.out_channels, in.c, kh, kw}
                                       : memory::dims{g, conv.out_channels / g, in.c / g, kh, kw};
  const Layer* relu = fused_relu(layer);
  const TensorId output = relu != nullptr ? relu->output : layer.output;
  dnnl::primitive_attr attributes;
  if (relu != nullptr) {
    attributes.set_post_ops(hios::cpu::post_operations(false, &relu->kind));
    done_[model_.consumers(layer.output)[0].index()] = true;
  }
  const memory::dims padding{conv.padding.begin.h, conv.padding.begin.w};
  const memory::desc bias_desc =
      conv.bias ? memory::desc({conv.out_channels}, kFloat, memory::format_tag::a) : memory::desc();
  const auto description = described<dnnl::convolution_forward>(
      engine_, attributes, dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
      nhwc(in), memory::desc(filter_dims, kFloat, memory::format_tag::any), bias_desc,
      nhwc(model_.tensor(output).shape), memory::dims{conv.stride.h, conv.stride.w}, padding,
      padding);
  std::vector<float> plain(static_cast<std::size_t>(conv.out_channels * (in.c / g) * kh * kw));
  source_.weights(model_, layer, plain);
  Arguments arguments{
      {DNNL_ARG_SRC, tensor(layer.inputs[0])},
      {DNNL_ARG_DST, tensor(output)},
      {DNNL_ARG_WEIGHTS, filled(description.weights_desc(), plain.data(),
                                {filter_dims, kFloat,
                                 g == 1 ? memory::format_tag::oihw : memory::format_tag::goihw})}};
  if (conv.bias) {
    std::vector<float> bias(static_cast<std::size_t>(conv.out_channels));
    source_.bias(model_, layer, bias);
    arguments.emplace(DNNL_ARG_BIAS, filled(bias_desc, bias.data(), bias_desc));
  }
  calls_.push_back({dnnl::convolution_forward(description), std::move(arguments)});
}

void Network::add_pool(const Layer& layer, const hios::Pool& pool) {
  const Shape& in = model_.tensor(layer.inputs[0]).shape;
  const Shape& out = model_.tensor(layer.output).shape;
  // Rows and columns after the last whole window are cut off, by a smaller padding in oneDNN.
  const auto after = [](std::int64_t outputs, std::int64_t stride, std::int64_t kernel,
                        std::int64_t inputs, std::int64_t before) {
    return (outputs - 1) * stride + kernel - inputs - before;
  };
  const memory::dims low{pool.padding.begin.h, pool.padding.begin.w};
  const memory::dims high{after(out.h, pool.stride.h, pool.kernel.h, in.h, pool.padding.begin.h),
                          after(out.w, pool.stride.w, pool.kernel.w, in.w, pool.padding.begin.w)};
  const auto algorithm = pool.kind == hios::Pool::Kind::kMax
                             ? dnnl::algorithm::pooling_max
                             : dnnl::algorithm::pooling_avg_exclude_padding;
  const memory::dims stride{pool.stride.h, pool.stride.w}, kernel{pool.kernel.h, pool.kernel.w};
  const auto description =
      described<dnnl::pooling_forward>(engine_, {}, dnnl::prop_kind::forward_inference, algorithm,
                                       nhwc(in), nhwc(out), stride, kernel,
#if DNNL_VERSION_MAJOR >= 3
                                       memory::dims{0, 0},  // no dilation
#endif
                                       low, high);
  calls_.push_back(
      {dnnl::pooling_forward(description),
       {{DNNL_ARG_SRC, tensor(layer.inputs[0])}, {DNNL_ARG_DST, tensor(layer.output)}}});
}

void Network::add_sum(const Layer& layer) {
  const memory::desc shape = nhwc(model_.tensor(layer.output).shape);
  const std::vector<memory::desc> terms(layer.inputs.size(), shape);
  Arguments arguments{{DNNL_ARG_DST, tensor(layer.output)}};
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    arguments.emplace(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), tensor(layer.inputs[i]));
  }
  const std::vector<float> scales(terms.size(), 1.0f);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::sum::primitive_desc description(engine_, shape, scales, terms);
#else
  const dnnl::sum::primitive_desc description(shape, scales, terms, engine_);
#endif
  calls_.push_back({dnnl::sum(description), std::move(arguments)});
}

void Network::add_concat(const Layer& layer) {
  std::vector<memory::desc> parts;
  Arguments arguments{{DNNL_ARG_DST, tensor(layer.output)}};
  for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
    parts.push_back(nhwc(model_.tensor(layer.inputs[i]).shape));
    arguments.emplace(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), tensor(layer.inputs[i]));
  }
  const memory::desc whole = nhwc(model_.tensor(layer.output).shape);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::concat::primitive_desc description(engine_, whole, 1, parts);
#else
  const dnnl::concat::primitive_desc description(whole, 1, parts, engine_);
#endif
  calls_.push_back({dnnl::concat(description), std::move(arguments)});
}

void Network::add_relu(const Layer& layer) {
  const memory::desc shape = nhwc(model_.tensor(layer.output).shape);
  const auto description = described<dnnl::eltwise_forward>(
      engine_, {}, dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_relu, shape,
#if DNNL_VERSION_MAJOR >= 3
      shape,
#endif
      0.0f, 0.0f);
  calls_.push_back(
      {dnnl::eltwise_forward(description),
       {{DNNL_ARG_SRC, tensor(layer.inputs[0])}, {DNNL_ARG_DST, tensor(layer.output)}}});
}

int measure(const std::string& name, int threads, int iterations, const std::string& json) {
  const hios::models::Entry* entry = hios::models::find(name);
  if (entry == nullptr) throw hios::InputError("there is no built-in model '" + name + "'");
  omp_set_num_threads(threads);
  const Model model = entry->build(1, entry->default_size, entry->default_size);
  Network network(model, 1);
  constexpr int kWarmUp = 3;
  std::vector<double> times_ms;
  for (int i = 0; i < kWarmUp + iterations; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    network.run();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (i >= kWarmUp) times_ms.push_back(time.count());
  }
  const hios::Statistics s = hios::summarize(times_ms);
  std::printf("%s  oneDNN bare loop  %d thread(s)  min %.2f  best quarter %.2f  median %.2f ms\n",
              name.c_str(), threads, s.min, s.best_quarter, s.median);
  if (!json.empty()) {
    hios::write_json(json, {{"iterations_ms", times_ms}}, hios::Existing::kReplace);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  std::string model, json;
  int threads = 1, iterations = 30;
  po::options_description options("The layers of a built-in model, straight from oneDNN");
  options.add_options()("help", "this text")(
      "model", po::value(&model)->default_value("inception_v3"), "a name of --list-models")(
      "threads", po::value(&threads)->default_value(1), "OpenMP threads")(
      "iterations", po::value(&iterations)->default_value(30), "after 3 of warm-up")(
      "json", po::value(&json), "write the iterations there");
  try {
    po::variables_map values;
    po::store(po::parse_command_line(argc, argv, options), values);
    po::notify(values);
    if (values.count("help") != 0) {
      std::cout << options;
      return 0;
    }
    if (threads < 1 || iterations < 1) {
      throw hios::InputError("--threads and --iterations are 1 or more");
    }
    return measure(model, threads, iterations, json);
  } catch (const hios::InputError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  } catch (const po::error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return static_cast<int>(hios::ExitCode::kRunFailed);
  }
  return static_cast<int>(hios::ExitCode::kBadInput);
}
