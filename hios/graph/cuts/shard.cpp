#include "hios/graph/cuts/shard.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <set>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"
#include "hios/graph/cuts/layer_range.h"
#include "hios/graph/cuts/shard_ranges.h"
#include "hios/model/channel_slice.h"

// Tests: tests/engine/cut_networks_test.cpp (values, bit for bit), tests/hios/graph/cuts/.

namespace hios {
namespace {

/// Rows or channels of a tensor that a tensor of the new model holds.
struct HeldRange {
  AxisRange range;
  TensorId tensor;
};

/// By the whole model's tensors.
using HeldRanges = std::vector<std::vector<HeldRange>>;

/// Returns the Move of these rows or channels.
Move range_slice(const Shape& input, const AxisRange& range) {
  if (range.axis == Axis::kC) return channel_slice(input, range.begin, range.count());
  const std::int64_t row = input.w * input.c;
  Move move;
  move.output = {input.n, input.c, range.count(), input.w};
  move.dimensions = {{input.n, input.h * row}, {range.count() * row, 1}};
  move.offset = range.begin * row;
  return move;
}

/// Returns the smallest range that holds both.
AxisRange joined(const AxisRange& a, const AxisRange& b) {
  return {a.axis, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

/// Returns the operator with a layer that bears this name, or of which the name is a shard's: the
/// name that operators of a cut network have. Empty: there is none.
std::optional<OpId> operator_with_layer(const Model& model, const CoarseGraph& operators,
                                        const std::string& name) {
  for (std::size_t i = 0; i < operators.operators.size(); ++i) {
    for (const LayerId id : operators.operators[i].layers) {
      const std::string& layer = model.layer(id).name;
      if (name == layer || name.starts_with(layer + " [") ||
          name.starts_with(layer + " channels ["))
        return OpId(i);
    }
  }
  return {};
}

/// Names the first operators, to show how they are called.
std::string examples(const std::vector<std::string_view>& names) {
  constexpr std::size_t kShown = 3;
  std::string text = "there are " + std::to_string(names.size());
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) {
    text += (i == 0 ? ": " : ", ") + quote(std::string(names[i]));
  }
  return text + (names.size() > kShown ? ", ..." : "");
}

/// Returns the operator that a cut names.
OpId cut_operator(const Model& model, const CoarseGraph& operators, const Cut& cut) {
  const Graph& graph = operators.graph;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.op(OpId(i)).name == cut.op) return OpId(i);
  }
  const std::string what = cut.where + ": no operator is named " + quote(cut.op);
  if (const auto op = operator_with_layer(model, operators, cut.op)) {
    throw InputError(what + "; the operator with that layer is " + quote(graph.op(*op).name));
  }
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < graph.size(); ++i) names.push_back(graph.op(OpId(i)).name);
  const std::string_view meant = nearest_name(cut.op, names);
  throw InputError(
      what + "; " +
      (meant.empty() ? examples(names) : "did you mean " + quote(std::string(meant)) + "?"));
}

class Sharder {
 public:
  Sharder(const Model& model, const CoarseGraph& operators)
      : model_(model),
        operators_(operators),
        builder_(model.name(), model.tensor(model.input()).shape),
        holdings_(model.tensors().size()) {
    for (const Layer& layer : model.layers()) names_.insert(layer.name);
    hold(model.input(), whole_of(model.input()), builder_.input());
  }

  Model sharded(const Cuts& cuts) {
    for (const Cut& cut : cuts) {
      if (cut_of_.emplace(cut_operator(model_, operators_, cut), &cut).second) continue;
      throw InputError(cut.where + ": operator " + quote(cut.op) + " is there twice");
    }
    for (std::size_t i = 0; i < operators_.operators.size(); ++i) {
      const auto cut = cut_of_.find(OpId(i));
      const OperatorLayers& op = operators_.operators[i];
      if (cut == cut_of_.end()) {
        for (const LayerId id : op.layers) copy(id);
      } else {
        write_shards(op, *cut->second);
      }
    }
    return finished();
  }

 private:
  AxisRange whole_of(TensorId id, Axis axis = Axis::kH) const {
    return whole_range(model_.tensor(id).shape, axis);
  }
  bool is_whole(TensorId id, const AxisRange& range) const {
    return range == whole_of(id, range.axis);
  }
  void hold(TensorId id, const AxisRange& range, TensorId made) {
    holdings_[id.index()].push_back({range, made});
  }

  /// Returns a name that no layer has, of a tensor's range.
  std::string name_of(const std::string& name, const AxisRange& range, bool whole) {
    std::string wanted = whole ? name : name + " " + to_string(range);
    if (whole && taken_.insert(wanted).second) return wanted;
    while (names_.contains(wanted) || !taken_.insert(wanted).second) wanted += '+';
    return wanted;
  }

  void copy(LayerId id) {
    const Layer& layer = model_.layer(id);
    const std::optional<std::vector<TensorId>> shards = shards_to_join(layer);
    std::vector<TensorId> inputs;
    for (const TensorId input : layer.inputs) {
      if (!shards) inputs.push_back(range_of(holdings_, input, whole_of(input)));
    }
    builder_.begin_block(layer.block);
    taken_.insert(layer.name);
    TensorId made;
    if (shards) {
      made = builder_.add(layer.name, layer.kind, *shards);
    } else if (layer.merged.empty()) {
      made = builder_.add(layer.name, layer.kind, std::move(inputs), layer.input_shapes);
    } else {
      made = builder_.merged_conv(layer.name, std::get<Conv>(layer.kind), inputs.front(),
                                  layer.input_shapes.front(), layer.merged);
    }
    builder_.set_origin(id);
    hold(layer.output, whole_of(layer.output), made);
  }

  /// Returns what a concatenation of channels reads: the shards where a tensor is in shards of
  /// channels, which it joins. Empty for other layers.
  std::optional<std::vector<TensorId>> shards_to_join(const Layer& layer) {
    const Concat* const concat = std::get_if<Concat>(&layer.kind);
    if (concat == nullptr || concat->axis != Axis::kC) return {};
    std::vector<TensorId> inputs;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      const TensorId id = layer.inputs[i];
      if (layer.input_shapes[i] != model_.tensor(id).shape) return {};
      const std::vector<HeldRange>& held = holdings_[id.index()];
      const bool in_shards = held.front().range.axis == Axis::kC &&
                             std::ranges::find(held, whole_of(id), &HeldRange::range) == held.end();
      if (!in_shards) {
        inputs.push_back(range_of(holdings_, id, whole_of(id)));
        continue;
      }
      for (const HeldRange& each : held) {  // the shards, in order, before ranges made of them
        inputs.push_back(each.tensor);
        if (each.range.end == whole_of(id, Axis::kC).end) break;
      }
    }
    return inputs;
  }

  void write_shards(const OperatorLayers& op, const Cut& cut) {
    std::vector<HeldRange> made;
    for (const AxisRange& range : shard_ranges(cut, model_.tensor(op.output).shape)) {
      made.push_back({range, write_shard(op, cut, range)});
    }
    holdings_[op.output.index()] = std::move(made);
  }

  /// Adds an operator's layers for a range of its output. Tensors that it makes on the way are for
  /// itself alone.
  TensorId write_shard(const OperatorLayers& op, const Cut& cut, const AxisRange& range) {
    std::map<TensorId, AxisRange> needed{{op.output, range}};
    std::map<LayerId, LayerOnRange> layers;
    for (const LayerId id : std::views::reverse(op.layers)) {
      const Layer& layer = model_.layer(id);
      const LayerOnRange& made =
          layers.emplace(id, layer_on_range(layer, cut, needed.at(layer.output))).first->second;
      for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
        const auto [found, is_new] = needed.emplace(layer.inputs[i], made.reads[i]);
        if (!is_new) found->second = joined(found->second, made.reads[i]);
      }
    }
    HeldRanges inside(model_.tensors().size());
    TensorId last = builder_.input();
    for (const LayerId id : op.layers) {
      const Layer& layer = model_.layer(id);
      const AxisRange& made = needed.at(layer.output);
      std::vector<TensorId> inputs;
      for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
        const bool is_inside = !inside[layer.inputs[i].index()].empty();
        inputs.push_back(
            range_of(is_inside ? inside : holdings_, layer.inputs[i], layers.at(id).reads[i]));
      }
      builder_.begin_block(layer.block);
      const bool all = id == op.layers.back() && is_whole(layer.output, made);  // by the overlap
      last = builder_.add(name_of(layer.name, made, all), layers.at(id).kind, std::move(inputs));
      builder_.set_origin(id, made);
      inside[layer.output.index()] = {{canonical(layer.output, made), last}};
    }
    return last;
  }

  LayerOnRange layer_on_range(const Layer& layer, const Cut& cut, const AxisRange& range) const {
    try {
      return on_range(model_, layer, range);
    } catch (const InputError& error) {
      throw InputError(cut.where + ": operator " + quote(cut.op) + " cannot be cut: layer " +
                       quote(layer.name) + ": " + error.what());
    }
  }

  /// Returns the range by which a holding is found: all channels are all rows.
  AxisRange canonical(TensorId id, const AxisRange& range) const {
    return is_whole(id, range) ? whole_of(id) : range;
  }

  /// Returns the tensor with exactly this range; makes it where there is none, and holds it for
  /// whoever reads the same.
  TensorId range_of(HeldRanges& holdings, TensorId id, const AxisRange& wanted) {
    const AxisRange range = canonical(id, wanted);
    std::vector<HeldRange>& held = holdings[id.index()];
    const auto same = std::ranges::find(held, range, &HeldRange::range);
    if (same != held.end()) return same->tensor;
    std::optional<std::vector<HeldRange>> parts = parts_of(with_whole(id, held, range.axis), range);
    if (!parts && is_whole(id, range)) parts = parts_of(held, whole_of(id, Axis::kC));
    if (!parts) {  // it is there in shards along the other axis
      range_of(holdings, id, whole_of(id));
      parts = parts_of(with_whole(id, held, range.axis), range);
    }
    std::vector<TensorId> tensors;
    for (const HeldRange& part : *parts) tensors.push_back(taken_from(id, held, part));
    TensorId made = tensors.front();
    if (tensors.size() > 1) {
      begin_block_of(id);
      made = builder_.add(name_of(model_.tensor(id).name, range, is_whole(id, range)),
                          Concat{parts->front().range.axis}, std::move(tensors));
    }
    held.push_back({range, made});
    return made;
  }

  /// Returns the holdings along an axis, the whole tensor among them.
  std::vector<HeldRange> with_whole(TensorId id, std::vector<HeldRange> held, Axis axis) const {
    for (HeldRange& each : held) {
      if (each.range == whole_of(id)) each.range = whole_of(id, axis);
    }
    return held;
  }

  /// Returns ranges that make up the wanted one together, each with the tensor that has it; empty:
  /// not all of it is there along this axis.
  static std::optional<std::vector<HeldRange>> parts_of(const std::vector<HeldRange>& held,
                                                        const AxisRange& wanted) {
    std::vector<HeldRange> parts;
    for (std::int64_t next = wanted.begin; next < wanted.end;) {
      const HeldRange* const longest = longest_from(held, wanted.axis, next);
      if (longest == nullptr) return {};
      const std::int64_t end = std::min(longest->range.end, wanted.end);
      parts.push_back({{wanted.axis, next, end}, longest->tensor});
      next = end;
    }
    return parts;
  }

  /// Returns the holding that has this row or channel and the most after it; null: none has it.
  static const HeldRange* longest_from(const std::vector<HeldRange>& held, Axis axis,
                                       std::int64_t next) {
    const HeldRange* best = nullptr;
    for (const HeldRange& each : held) {
      if (!each.range.holds({axis, next, next + 1})) continue;
      if (best == nullptr || each.range.end > best->range.end) best = &each;
    }
    return best;
  }

  /// Returns the tensor of a part: the one that it is in, or a slice of that.
  TensorId taken_from(TensorId id, const std::vector<HeldRange>& held, const HeldRange& part) {
    const AxisRange from = std::ranges::find(held, part.tensor, &HeldRange::tensor)->range;
    if (from == canonical(id, part.range)) return part.tensor;
    const std::int64_t skipped = is_whole(id, from) ? 0 : from.begin;
    begin_block_of(id);
    return builder_.add(
        name_of(model_.tensor(id).name + " slice", part.range, false),
        range_slice(builder_.shape(part.tensor),
                    {part.range.axis, part.range.begin - skipped, part.range.end - skipped}),
        {part.tensor});
  }

  void begin_block_of(TensorId id) {
    const auto producer = model_.tensor(id).producer;
    builder_.begin_block(producer ? model_.layer(*producer).block : std::string());
  }

  Model finished() {
    std::vector<NamedOutput> outputs(model_.named_outputs().begin(), model_.named_outputs().end());
    for (NamedOutput& output : outputs) {
      output.tensor = range_of(holdings_, output.tensor, whole_of(output.tensor));
    }
    builder_.keep_layer_names();
    builder_.set_whole(std::make_shared<const Model>(model_));
    const auto inputs = model_.named_inputs();
    return std::move(builder_).build(std::move(outputs), {inputs.begin(), inputs.end()});
  }

  const Model& model_;
  const CoarseGraph& operators_;
  ModelBuilder builder_;
  std::set<std::string> names_, taken_;  ///< of the whole model's layers; of this one's
  std::map<OpId, const Cut*> cut_of_;
  HeldRanges holdings_;
};

}  // namespace

Model shard(const Model& model, const CoarseGraph& operators, const Cuts& cuts) {
  return cuts.empty() ? model : Sharder(model, operators).sharded(cuts);
}

}  // namespace hios
