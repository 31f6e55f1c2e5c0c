#include "hios/graph/cuts/shard.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <ranges>
#include <set>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"
#include "hios/graph/cuts/rows.h"

// Tests: tests/engine/cut_networks_test.cpp (values, bit for bit), tests/hios/graph/cuts/.

namespace hios {
namespace {

/// Rows of a tensor that a tensor of the new model holds.
struct Holding {
  Rows rows;
  TensorId tensor;
};

/// Returns the Move of these rows.
Move row_slice(const Shape& input, const Rows& rows) {
  const std::int64_t row = input.w * input.c;
  Move move;
  move.output = {input.n, input.c, rows.count(), input.w};
  move.dimensions = {{input.n, input.h * row}, {rows.count() * row, 1}};
  move.offset = rows.begin * row;
  return move;
}

/// Returns the operator that a cut names.
OpId cut_operator(const Graph& graph, const Cut& cut) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (graph.op(OpId(i)).name == cut.op) return OpId(i);
  }
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < graph.size(); ++i) names.push_back(graph.op(OpId(i)).name);
  const std::string_view meant = nearest_name(cut.op, names);
  throw InputError("cuts: no operator is named " + quote(cut.op) +
                   (meant.empty() ? "" : "; did you mean " + quote(std::string(meant)) + "?"));
}

/// Returns the rows of each shard.
std::vector<Rows> shards_of(const Cut& cut, std::int64_t height) {
  if (cut.at.empty() || cut.at.front() < 1 || cut.at.back() >= height ||
      !std::ranges::is_sorted(cut.at, std::less_equal<>{})) {
    throw InputError("cuts: operator " + quote(cut.op) + " has " + std::to_string(height) +
                     " rows: shards begin at ascending rows from 1 to " +
                     std::to_string(height - 1));
  }
  std::vector<Rows> shards;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i <= cut.at.size(); ++i) {
    const std::int64_t end = i < cut.at.size() ? cut.at[i] : height;
    shards.push_back(
        {std::max<std::int64_t>(begin - cut.overlap, 0), std::min(end + cut.overlap, height)});
    begin = end;
  }
  return shards;
}

class Sharder {
 public:
  Sharder(const Model& model, const CoarseGraph& operators)
      : model_(model),
        operators_(operators),
        builder_(model.name(), model.tensor(model.input()).shape),
        holdings_(model.tensors().size()) {
    for (const Layer& layer : model.layers()) names_.insert(layer.name);
    hold(model.input(), whole_rows(model.input()), builder_.input());
  }

  Model sharded(const Cuts& cuts) {
    for (const Cut& cut : cuts) cut_of_[cut_operator(operators_.graph, cut)] = &cut;
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
  Rows whole_rows(TensorId id) const { return {0, model_.tensor(id).shape.h}; }
  void hold(TensorId id, const Rows& rows, TensorId made) {
    holdings_[id.index()].push_back({rows, made});
  }

  /// Returns a name that no layer has, of a tensor's rows.
  std::string name_of(const std::string& name, const Rows& rows, bool whole) {
    std::string wanted = whole ? name : name + " " + to_string(rows);
    if (whole && taken_.insert(wanted).second) return wanted;
    while (names_.contains(wanted) || !taken_.insert(wanted).second) wanted += '+';
    return wanted;
  }

  void copy(LayerId id) {
    const Layer& layer = model_.layer(id);
    std::vector<TensorId> inputs;
    for (const TensorId input : layer.inputs) {
      inputs.push_back(rows_of(holdings_, input, whole_rows(input)));
    }
    builder_.begin_block(layer.block);
    taken_.insert(layer.name);
    const TensorId made =
        layer.merged.empty()
            ? builder_.add(layer.name, layer.kind, std::move(inputs), layer.input_shapes)
            : builder_.merged_conv(layer.name, std::get<Conv>(layer.kind), inputs.front(),
                                   layer.input_shapes.front(), layer.merged);
    builder_.set_origin(id);
    hold(layer.output, whole_rows(layer.output), made);
  }

  void write_shards(const OperatorLayers& op, const Cut& cut) {
    std::vector<Holding> made;
    for (const Rows& rows : shards_of(cut, model_.tensor(op.output).shape.h)) {
      made.push_back({rows, write_shard(op, cut, rows)});
    }
    holdings_[op.output.index()] = std::move(made);
  }

  /// Adds an operator's layers for some rows of its output. Tensors that it makes on the way are
  /// for itself alone.
  TensorId write_shard(const OperatorLayers& op, const Cut& cut, const Rows& rows) {
    std::map<TensorId, Rows> needed{{op.output, rows}};
    std::map<LayerId, LayerOnRows> layers;
    for (const LayerId id : std::views::reverse(op.layers)) {
      const Layer& layer = model_.layer(id);
      layers.emplace(id, layer_on_rows(layer, cut, needed.at(layer.output)));
      for (const TensorId input : layer.inputs) {
        const Rows reads = rows_read(input, layers.at(id).reads, layer);
        const auto [found, is_new] = needed.emplace(input, reads);
        if (!is_new) {
          found->second = {std::min(found->second.begin, reads.begin),
                           std::max(found->second.end, reads.end)};
        }
      }
    }
    std::vector<std::vector<Holding>> inside(model_.tensors().size());
    TensorId last = builder_.input();
    for (const LayerId id : op.layers) {
      const Layer& layer = model_.layer(id);
      const Rows& made = needed.at(layer.output);
      std::vector<TensorId> inputs;
      for (const TensorId input : layer.inputs) {
        const bool is_inside = !inside[input.index()].empty();
        inputs.push_back(rows_of(is_inside ? inside : holdings_, input,
                                 rows_read(input, layers.at(id).reads, layer)));
      }
      builder_.begin_block(layer.block);
      last = builder_.add(name_of(layer.name, made, false), layers.at(id).kind, std::move(inputs));
      builder_.set_origin(id);
      inside[layer.output.index()] = {{made, last}};
    }
    return last;
  }

  LayerOnRows layer_on_rows(const Layer& layer, const Cut& cut, const Rows& rows) const {
    const std::string where =
        "cuts: operator " + quote(cut.op) + " cannot be cut: layer " + quote(layer.name) + ": ";
    if (!layer.merged.empty()) throw InputError(where + "it is several convolutions");
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      if (layer.input_shapes[i] != model_.tensor(layer.inputs[i]).shape)
        throw InputError(where + "it reads a tensor in another shape");
    }
    try {
      return on_rows(layer.kind, layer.input_shapes.front(), model_.tensor(layer.output).shape,
                     rows);
    } catch (const InputError& error) {
      throw InputError(where + error.what());
    }
  }

  /// Returns the rows of an input that a layer reads: all of one that it repeats for each row.
  Rows rows_read(TensorId input, const Rows& reads, const Layer& layer) const {
    const bool repeats = std::holds_alternative<Binary>(layer.kind);
    return repeats && model_.tensor(input).shape.h == 1 ? Rows{0, 1} : reads;
  }

  /// Returns the tensor with exactly these rows; makes it where there is none, and holds it for
  /// whoever reads the same.
  TensorId rows_of(std::vector<std::vector<Holding>>& holdings, TensorId id, const Rows& rows) {
    std::vector<Holding>& held = holdings[id.index()];
    const auto same = std::ranges::find(held, rows, &Holding::rows);
    if (same != held.end()) return same->tensor;
    std::vector<TensorId> parts;
    const std::vector<Holding> from = held;
    for (std::int64_t next = rows.begin; next < rows.end;) {
      const Holding& longest = longest_from(from, next);
      const Rows part{next, std::min(longest.rows.end, rows.end)};
      parts.push_back(part == longest.rows ? longest.tensor : slice(id, longest, part));
      next = part.end;
    }
    TensorId made = parts.front();
    if (parts.size() > 1) {
      begin_block_of(id);
      made = builder_.add(name_of(model_.tensor(id).name, rows, whole(id, rows)), Concat{Axis::kH},
                          std::move(parts));
    }
    held.push_back({rows, made});
    return made;
  }

  bool whole(TensorId id, const Rows& rows) const { return rows == whole_rows(id); }

  /// Returns the holding that has this row and the most after it.
  static const Holding& longest_from(const std::vector<Holding>& held, std::int64_t row) {
    const Holding* best = nullptr;
    for (const Holding& each : held) {
      if (each.rows.begin > row || each.rows.end <= row) continue;
      if (best == nullptr || each.rows.end > best->rows.end) best = &each;
    }
    return *best;
  }

  TensorId slice(TensorId id, const Holding& from, const Rows& rows) {
    begin_block_of(id);
    const Rows inside{rows.begin - from.rows.begin, rows.end - from.rows.begin};
    return builder_.add(name_of(model_.tensor(id).name + " slice", rows, false),
                        row_slice(builder_.shape(from.tensor), inside), {from.tensor});
  }

  void begin_block_of(TensorId id) {
    const auto producer = model_.tensor(id).producer;
    builder_.begin_block(producer ? model_.layer(*producer).block : std::string());
  }

  Model finished() {
    std::vector<NamedOutput> outputs(model_.named_outputs().begin(), model_.named_outputs().end());
    for (NamedOutput& output : outputs) {
      output.tensor = rows_of(holdings_, output.tensor, whole_rows(output.tensor));
    }
    builder_.keep_layer_names();
    builder_.set_whole(std::make_shared<const Model>(model_));
    return std::move(builder_).build(std::move(outputs), model_.named_input());
  }

  const Model& model_;
  const CoarseGraph& operators_;
  ModelBuilder builder_;
  std::set<std::string> names_, taken_;  ///< of the whole model's layers; of this one's
  std::map<OpId, const Cut*> cut_of_;
  std::vector<std::vector<Holding>> holdings_;  ///< by the whole model's tensors
};

}  // namespace

Model shard(const Model& model, const CoarseGraph& operators, const Cuts& cuts) {
  return cuts.empty() ? model : Sharder(model, operators).sharded(cuts);
}

}  // namespace hios
