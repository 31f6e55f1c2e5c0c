#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hios/base/numbers/precision.h"
#include "hios/graph/fusion/fusion.h"
#include "hios/graph/fusion/fusion_rules.h"
#include "hios/graph/fusion/places.h"
#include "hios/graph/graph.h"
#include "hios/model/model.h"

namespace hios {

/// A Graph and the layers of each of its operators. Sources: coarsen.cpp, which makes it, and
/// coarse_graph.cpp for the places of its tensors.
struct CoarseGraph {
  Graph graph;
  std::vector<OperatorLayers> operators;  ///< by OpId

  /// Returns the operator that produces a tensor, or its first byte where several do; empty for
  /// the model's input. Where the graph divides inputs, it is the whole graph's operator.
  std::optional<OpId> producer(TensorId id) const;
  const OperatorLayers& layers(OpId id) const { return operators[id.index()]; }
  /// Returns true if the operator produces an output of the model or a tensor without consumers.
  bool is_output(OpId id) const {
    return graph.out_edges(id).empty() || (id.index() < wanted.size() && wanted[id.index()]);
  }
  /// Returns the vertex that produces the first of the inputs that `consumer` reads of the tensor;
  /// empty for the model's input.
  std::optional<OpId> producer_for(TensorId id, OpId consumer) const {
    const std::optional<OpId> whole = producer(id);
    const Batching* const batching = graph.batching();
    if (!whole || !batching) return whole;
    return batching->holder(*whole, batching->of(consumer).inputs.begin);
  }
  /// Returns the model of a vertex: `whole`, or the model for as many inputs as its batch has.
  const Model& model_of(OpId id, const Model& whole) const {
    const Batching* const batching = graph.batching();
    return batching ? *batch_models.at(batching->of(id).inputs.size()) : whole;
  }
  Bytes size_bytes(const Shape& shape) const { return shape.size_bytes(element_bytes); }

  /// Returns where the output of an operator lies. Batches that one operator reads share a region.
  Place place_of(OpId id) const;
  /// Returns the bytes of the producer's output that the consumer reads.
  ByteRange read_by(EdgeId id) const;
  /// Returns the bytes from the beginning of a producer's output to that of the tensor as `reader`
  /// reads it; negative where this begins earlier. REQUIRES: the reader reads some of the output.
  std::int64_t distance(OpId producer, TensorId tensor, OpId reader) const;
  /// Returns the bytes from the beginning of the model's input to that of a tensor of its values,
  /// as `reader` reads it.
  std::int64_t distance_from_input(const Model& model, TensorId tensor, OpId reader) const;

  std::vector<std::optional<OpId>> producer_of;  ///< by TensorId
  Bytes element_bytes =
      hios::element_bytes(Precision::kFp32);  ///< size of an element of tensors and weights
  std::vector<bool> wanted = {};              ///< by OpId: it produces a model's output
  /// The models of a graph that divides inputs (SizedNetworks::divide), by number of inputs. They
  /// differ from the whole model in their tensors' first extent only; ids are the same.
  std::map<std::int64_t, std::shared_ptr<const Model>> batch_models = {};
  /// By OpId, in a graph that divides inputs: batches_together().
  std::vector<OpId> first_together = {};
  /// By OpId, in the graph of a model whose operators were cut: the name that an operator has in
  /// the whole network, or that of which it is a shard. Empty: an operator that joins or moves.
  std::vector<std::string> whole_names = {};
  Places places = {};  ///< where tensors lie; those of a graph that divides inputs: alone
};

/// Returns, for each batch, the first of those of its operator that lie together, one after the
/// other: neighbours that one operator reads. Others have memory of their own, which tensors of
/// other inputs use before and after. REQUIRES: the graph divides inputs.
std::vector<OpId> batches_together(const Graph& graph);

/// Returns an operator's signature: inputs, layers and output, everything that its work depends on.
std::string signature_of(const OperatorLayers& op, const Model& model);

/// Makes operators from layers: by listed rules, one a layer, or by default as the HIOS paper
/// counts them (Kundu and Shu, "HIOS", section III-A):
///  - conv [+ activation], relu + conv, relu + depthwise + pointwise (+ relu), each after the sum
///    of its inputs where no other layer reads that sum;
///  - conv + addend [+ activation], also after depthwise [+ activation];
///  - a pool; a relu on its own; a sum, a concat, a concat of sums and of slices of merged
///    siblings' tensors (hios/graph/fusion/merge_siblings.h).
/// It does not merge siblings; the Network does so before.
/// The model's input is no operator, and its edges are no dependencies. There is an edge per input
/// value, with multiplicity. Where a model was cut, operators and shards consist of the layers of
/// which the whole model's operators consist. Moves and joins of rows are no operators but places
/// (hios/graph/fusion/places.h), and an edge leads from each operator that produces some of the
/// bytes that another reads. Operators are named by kind and number in topological order
/// ("conv_1", "sepconv_8", "pool_4"), and have a signature and the bytes of output and parameters,
/// with `element_bytes` an element (Platform::element_bytes()).
CoarseGraph coarsen(const Model& model, Bytes element_bytes = hios::element_bytes(Precision::kFp32),
                    const FusionRules& fusion = {});

}  // namespace hios
