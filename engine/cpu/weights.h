#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/backend/tensor_source.h"
#include "engine/cpu/dnnl_handles.h"
#include "engine/cpu/memory.h"
#include "hios/model/model.h"

namespace hios::cpu {

/// A layer's weights and bias in the layout of the code that uses them.
struct PackedWeights {
  dnnl::memory::desc layout;  ///< oneDNN's; zero for our own kernels
  AlignedBytes weights;
  AlignedBytes bias;  ///< null if the layer has none and its user needs none
  std::size_t weights_bytes = 0, bias_bytes = 0;  ///< what was requested

  std::size_t size_bytes() const { return weights_bytes + bias_bytes; }

  const float* weight_floats() const { return reinterpret_cast<const float*>(weights.get()); }
  const float* bias_floats() const { return reinterpret_cast<const float*>(bias.get()); }
};

/// Weights, drawn from their source once and shared by all operators that use the same layout: a
/// profiler binds an operator again for every stage in which it measures it. They live as long as
/// an operator holds them. Main thread only.
class WeightsCache {
 public:
  explicit WeightsCache(dnnl::engine engine) : engine_(std::move(engine)) {}

  /// Returns weights in the layout that a oneDNN primitive has chosen. REQUIRES: Conv or
  /// ConvTranspose.
  std::shared_ptr<const PackedWeights> for_primitive(const Model& model, const Layer& layer,
                                                     TensorSource& source,
                                                     const dnnl::memory::desc& layout);
  /// Returns weights as WindowTask describes; a bias of zeros if the layer has none. REQUIRES:
  /// depthwise.
  std::shared_ptr<const PackedWeights> for_window(const Model& model, const Layer& layer,
                                                  TensorSource& source);
  /// Returns the 36 matrices of Winograd's method F(4×4, 3×3), in the layout that a product of 36
  /// matrices has chosen; a bias of zeros if the layer has none. REQUIRES: Conv, 3×3, one group.
  std::shared_ptr<const PackedWeights> for_winograd(const Model& model, const Layer& layer,
                                                    TensorSource& source,
                                                    const dnnl::memory::desc& layout);
  /// Returns weights as PanelTask describes, the panels of panel_columns() one after the other, the
  /// last with as many chunks as it needs; a bias of zeros if the layer has none, padded to whole
  /// panels. REQUIRES: a pointwise Conv.
  std::shared_ptr<const PackedWeights> for_panels(const Model& model, const Layer& layer,
                                                  TensorSource& source);
  /// Returns weights in the source's order; those of a ConvTranspose as (kernel h, kernel w, in,
  /// out/groups), so that the innermost loop runs over neighbours. For layers without a primitive.
  std::shared_ptr<const PackedWeights> for_own_loops(const Model& model, const Layer& layer,
                                                     TensorSource& source);
  /// Returns the bytes of all weights that are still in use.
  std::size_t size_bytes() const;
  /// Adds the memory of a layer's weights and bias to `memory`, in all layouts that are in use. Who
  /// overwrites it overwrites what later operators of the layer share.
  void add_memory(const Model& model, const Layer& layer, const TensorSource& source,
                  std::vector<std::span<std::byte>>& memory) const;

 private:
  using Key = std::tuple<const TensorSource*, const Model*, std::string>;
  void pack(const dnnl::memory::desc& plain, const float* values, PackedWeights& packed);
  template <class Pack>
  std::shared_ptr<const PackedWeights> find_or(const Model& model, const Layer& layer,
                                               TensorSource& source,
                                               const dnnl::memory::desc& layout, Pack&& pack);

  dnnl::engine engine_;
  Slabs slabs_;
  std::map<Key, std::vector<std::weak_ptr<const PackedWeights>>> known_;
};

/// Returns the dimensions of a Conv's or ConvTranspose's weights in oneDNN's order: five with
/// groups, else four.
dnnl::memory::dims weight_dims(const Conv& conv, std::int64_t in_channels);
dnnl::memory::dims weight_dims(const ConvTranspose& conv, std::int64_t in_channels);

}  // namespace hios::cpu
