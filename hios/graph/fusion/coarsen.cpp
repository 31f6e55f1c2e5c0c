#include "hios/graph/fusion/coarsen.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hios/base/digest.h"
#include "hios/graph/fusion/cut_groups.h"
#include "hios/graph/fusion/fusion_patterns.h"
#include "hios/graph/fusion/whole_graph.h"

// Makes a graph of groups of layers: by patterns (fusion_patterns.h), by listed rules
// (fusion_rules.h), or, of a model that was cut, by the groups of the whole one (cut_groups.h).
// tests/hios/model/networks/networks_test.cpp holds every operator and edge of four networks.
namespace hios {
namespace {

template <class Kind>
const Kind* as(const Layer& layer) {
  return std::get_if<Kind>(&layer.kind);
}

bool is_inside(const OperatorLayers& op, const Model& model, TensorId tensor) {
  return std::any_of(op.layers.begin(), op.layers.end(),
                     [&](LayerId id) { return model.layer(id).output == tensor; });
}

/// Returns "3*1x168x42x42 1x84x42x42": equal neighbours are counted, since cells concatenate many.
std::string inputs_text(const OperatorLayers& op) {
  std::string text;
  for (std::size_t i = 0; i < op.inputs.size();) {
    const Shape& shape = op.input_shapes[i];
    std::size_t same = 1;
    while (i + same < op.inputs.size() && op.input_shapes[i + same] == shape) ++same;
    if (i > 0) text += ' ';
    if (same > 1) text += std::to_string(same) + '*';
    text += shape.to_string();
    i += same;
  }
  return text;
}

std::string kind_of(const OperatorLayers& op, const Model& model) {
  const auto convolutions = std::count_if(op.layers.begin(), op.layers.end(), [&](LayerId id) {
    return as<Conv>(model.layer(id)) != nullptr;
  });
  if (convolutions > 0) return convolutions > 1 ? "sepconv" : "conv";
  const Layer& last = model.layer(op.layers.back());
  if (as<Relu>(last)) return "relu";
  if (as<Sum>(last)) return "sum";
  if (as<Concat>(last)) return "concat";
  if (as<Pool>(last) || as<GlobalAveragePool>(last)) return "pool";
  std::string kind(onnx_type(last.kind));
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](char letter) { return 'A' <= letter && letter <= 'Z' ? letter + 32 : letter; });
  return kind;
}

/// Returns the name of the layer that does most of the work: the convolution, otherwise the last.
const std::string& main_layer_name(const OperatorLayers& op, const Model& model) {
  for (auto id = op.layers.rbegin(); id != op.layers.rend(); ++id) {
    if (as<Conv>(model.layer(*id))) return model.layer(*id).name;
  }
  return model.layer(op.layers.back()).name;
}

/// Returns the name of an operator, the `number`th of the model.
std::string operator_name(const OperatorLayers& op, const Model& model, std::size_t number) {
  return model.keeps_layer_names() ? main_layer_name(op, model)
                                   : kind_of(op, model) + '_' + std::to_string(number);
}

/// Returns the mark of a whole operator in the signatures of its shards. Shards of two operators
/// may be alike, and compute by different algorithms: each by that of its whole.
std::string mark_of(const OperatorLayers& whole, const Model& model) {
  return " of " + Digest().add(signature_of(whole, model)).hex().substr(0, 8);
}

Operator vertex(const OperatorLayers& op, const Model& model, std::size_t number,
                Bytes element_bytes) {
  Operator result;
  result.name = operator_name(op, model, number);
  result.signature = signature_of(op, model);
  result.block = model.layer(op.layers.back()).block;
  result.memory_bytes = model.tensor(op.output).shape.size_bytes(element_bytes);
  std::int64_t values = 0;
  for (const LayerId id : op.layers) {
    const Layer& layer = model.layer(id);
    values += parameters(layer.kind, layer.input_shapes);
  }
  result.parameter_bytes = static_cast<Bytes>(values) * element_bytes;
  return result;
}

/// Returns the layers of each operator, ordered by their last layers.
LayerGroups grouped_layers(const Model& model, const FusionRules& fusion) {
  if (fusion.kind == FusionRules::Kind::kDefault) return operators_by_patterns(model);
  return operators_by_rules(model, fusion);  // without a rule: one layer an operator
}

/// Returns the layers that no other is fused with, by LayerId.
std::vector<bool> alone(const LayerGroups& groups, std::size_t layers) {
  std::vector<bool> alone(layers, false);
  for (const auto& group : groups) {
    if (group.size() == 1) alone[group.front().index()] = true;
  }
  return alone;
}

/// Makes operators of layers, and edges of the bytes that they read.
class GraphBuilder {
 public:
  GraphBuilder(const Model& model, Bytes element_bytes, Places places) : model_(model) {
    coarse_.element_bytes = element_bytes;
    coarse_.places = std::move(places);
    coarse_.producer_of.resize(model.tensors().size());
  }

  /// `mark`: ends the operator's signature. `name`: empty for that of its layers.
  void add(std::vector<LayerId> layers, const std::string& mark = {},
           const std::string& name = {}) {
    const OpId id(operators_.size());
    OperatorLayers op = fuse(model_, std::move(layers));
    for (const LayerId layer : op.layers) {
      coarse_.producer_of[model_.layer(layer).output.index()] = id;
    }
    coarse_.wanted.push_back(model_.is_output(op.output));
    operators_.push_back(vertex(op, model_, id.index() + 1, coarse_.element_bytes));
    operators_.back().signature += mark;
    if (!name.empty()) operators_.back().name = name;
    for (const TensorId input : op.inputs) add_edges(input, id);
    writers_[coarse_.places.of(op.output).region].push_back({bytes_of(op.output), id});
    coarse_.operators.push_back(std::move(op));
  }

  CoarseGraph finished() && {
    coarse_.graph = Graph(model_.name(), std::move(operators_), std::move(edges_));
    return std::move(coarse_);
  }

 private:
  struct Writer {
    ByteRange bytes;  ///< of the region
    OpId op;
  };

  ByteRange bytes_of(TensorId id) const {
    const Bytes begin = coarse_.places.of(id).begin;
    return {begin, begin + coarse_.size_bytes(model_.tensor(id).shape)};
  }

  void add_edges(TensorId input, OpId to) {
    if (coarse_.places.empty()) {
      const auto from = coarse_.producer(input);
      if (from) edges_.push_back({*from, to, coarse_.size_bytes(model_.tensor(input).shape), {}});
      return;
    }
    const ByteRange read = bytes_of(input);
    std::optional<Bytes> first;
    for (const Writer& writer : writers_[coarse_.places.of(input).region]) {
      const ByteRange both = common(read, writer.bytes);
      if (both.empty()) continue;
      edges_.push_back({writer.op, to, both.size(), {}});
      if (both != writer.bytes) {
        const Bytes begin = both.begin - writer.bytes.begin;
        edges_.back().range = ByteRange{begin, begin + both.size()};
      }
      if (!first || both.begin < *first) coarse_.producer_of[input.index()] = writer.op;
      first = std::min(first.value_or(both.begin), both.begin);
    }
  }

  const Model& model_;
  CoarseGraph coarse_;
  std::vector<Operator> operators_;
  std::vector<Edge> edges_;
  std::map<std::size_t, std::vector<Writer>> writers_;  ///< by region
};

}  // namespace

// A sum has its number of operands, a concat its sums (s) and inputs (i).
std::string signature_of(const OperatorLayers& op, const Model& model) {
  std::string text = inputs_text(op) + " >";
  for (const LayerId id : op.layers) {
    const Layer& layer = model.layer(id);
    text += ' ' + attributes_text(layer.kind);
    if (as<Sum>(layer)) text += ' ' + std::to_string(layer.inputs.size());
    if (as<Concat>(layer)) {
      text += ' ';
      for (const TensorId input : layer.inputs) text += is_inside(op, model, input) ? 's' : 'i';
    }
    text += " >";
  }
  return text + ' ' + model.tensor(op.output).shape.to_string();
}

namespace {

CoarseGraph coarsen_cut(const Model& model, Bytes element_bytes, const FusionRules& fusion) {
  const LayerGroups whole = grouped_layers(*model.whole(), fusion);
  const CutGroups cut(model, whole);
  const Places places(model, element_bytes, alone(cut.groups, model.layers().size()));
  GraphBuilder builder(model, element_bytes, places);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < cut.groups.size(); ++i) {
    if (places.is_view(cut.groups[i].front())) continue;
    const bool is_shard = model.layer(cut.groups[i].back()).range.has_value();
    std::string& name = names.emplace_back();
    std::string mark;
    if (const auto group = cut.of_whole[i]) {
      const OperatorLayers of = fuse(*model.whole(), whole[*group]);
      name = operator_name(of, *model.whole(), *group + 1);
      if (is_shard) mark = mark_of(of, *model.whole());
    }
    builder.add(cut.groups[i], mark);
  }
  CoarseGraph coarse = std::move(builder).finished();
  coarse.whole_names = std::move(names);
  return coarse;
}

}  // namespace

CoarseGraph coarsen(const Model& model, Bytes element_bytes, const FusionRules& fusion) {
  if (model.whole()) return coarsen_cut(model, element_bytes, fusion);
  GraphBuilder builder(model, element_bytes, {});
  for (std::vector<LayerId>& layers : grouped_layers(model, fusion)) {
    builder.add(std::move(layers));
  }
  return std::move(builder).finished();
}

CoarseGraph whole_graph(const CoarseGraph& cut, const Model& model) {
  std::map<LayerId, std::pair<std::vector<LayerId>, std::string>> wholes;  // by their last layers
  for (std::size_t i = 0; i < cut.operators.size(); ++i) {
    if (cut.whole_names.at(i).empty()) continue;
    std::vector<LayerId> layers;
    for (const LayerId id : cut.operators[i].layers) {
      layers.push_back(model.layer(id).origin.value());
    }
    const LayerId last = layers.back();
    wholes.try_emplace(last, std::move(layers), cut.whole_names[i]);
  }
  GraphBuilder builder(*model.whole(), cut.element_bytes, {});
  for (auto& [last, whole] : wholes) builder.add(std::move(whole.first), {}, whole.second);
  return std::move(builder).finished();
}

}  // namespace hios
