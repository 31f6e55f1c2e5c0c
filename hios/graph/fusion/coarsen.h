#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hios/base/numbers/precision.h"
#include "hios/graph/fusion/fusion.h"
#include "hios/graph/fusion/fusion_rules.h"
#include "hios/graph/graph.h"
#include "hios/model/model.h"

namespace hios {

/// A Graph and the layers behind each of its operators.
struct CoarseGraph {
  Graph graph;
  std::vector<OperatorLayers> operators;  ///< by OpId

  /// The operator that produces a tensor; empty for the model's input. Where the graph divides
  /// inputs, the whole graph's operator.
  std::optional<OpId> producer(TensorId id) const;
  const OperatorLayers& layers(OpId id) const { return operators[id.index()]; }
  /// True if the operator makes an output of the model, or nobody reads what it makes.
  bool is_output(OpId id) const {
    return graph.out_edges(id).empty() || (id.index() < wanted.size() && wanted[id.index()]);
  }
  /// The vertex that makes the first input of what `consumer` reads of the tensor; empty for the
  /// model's input.
  std::optional<OpId> maker(TensorId id, OpId consumer) const {
    const std::optional<OpId> whole = producer(id);
    const Batching* const batching = graph.batching();
    if (!whole || !batching) return whole;
    return batching->holder(*whole, batching->of(consumer).inputs.begin);
  }
  /// What the operator is computed with: `whole`, or for some of its inputs a model of as many.
  const Model& model_of(OpId id, const Model& whole) const {
    const Batching* const batching = graph.batching();
    return batching ? *batch_models.at(batching->of(id).inputs.size()) : whole;
  }
  Bytes size_bytes(const Shape& shape) const { return shape.size_bytes(element_bytes); }

  std::vector<std::optional<OpId>> producer_of;                 ///< by TensorId
  Bytes element_bytes = hios::element_bytes(Precision::kFp32);  ///< of all tensors and weights
  std::vector<bool> wanted = {};                                ///< by OpId: a model's output
  /// Where the graph divides inputs (SizedNetworks::divide), by their number: the whole model but
  /// for its tensors' first extent, with layers and tensors of the same ids.
  std::map<std::int64_t, std::shared_ptr<const Model>> batch_models = {};
};

/// Makes operators from layers: by rules, where these are given, else each layer by itself or,
/// unless told otherwise, counted as the HIOS paper counts them (Kundu and Shu, "HIOS",
/// section III-A):
///  - conv [+ activation], relu + conv, relu + depthwise + pointwise (+ relu), each with the sum of
///    its inputs in front where only it reads that sum; conv + addend [+ activation];
///  - a pool; a relu on its own; a sum, a concat, a concat of sums and of slices of what siblings
///    made together (hios/graph/fusion/merge_siblings.h).
/// It does not merge: the Network does, before.
/// The model's input is no operator, and its edge no dependency. An edge per input value, with
/// multiplicity. Operators are named "conv_1", "sepconv_8", "pool_4", … by kind and number in
/// topological order, and carry signature, output bytes and parameter bytes: `element_bytes`
/// an element, as Platform::element_bytes() says.
CoarseGraph coarsen(const Model& model, Bytes element_bytes = hios::element_bytes(Precision::kFp32),
                    const FusionRules& fusion = {});

}  // namespace hios
