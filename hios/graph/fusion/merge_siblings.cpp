#include "hios/graph/fusion/merge_siblings.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "hios/base/error.h"
#include "hios/graph/fusion/fusion.h"
#include "hios/model/channel_slice.h"

// Two passes over the layers: the first finds the sets, the second builds the model again. A wide
// convolution takes the position of the first of its set, since all of them read a tensor that is
// there by then. Slices are added as late as possible, so that a concat has the slices that only it
// reads directly before it, as it has sums (hios/graph/fusion/fusion_patterns.cpp).
//
// O(layers + inputs), except for the search of a layer's set among those that read its tensor.
namespace hios {
namespace {

/// A convolution that may be merged, and its activation.
struct Sibling {
  LayerId conv;
  std::optional<LayerId> activation;
};

class Siblings {
 public:
  explicit Siblings(const Model& model) : model_(model) {
    for (std::size_t i = 0; i < model.layers().size(); ++i) {
      const auto sibling = sibling_at(LayerId(i));
      if (!sibling) continue;
      const auto set =
          std::ranges::find_if(sets_, [&](const auto& each) { return fits(each[0], *sibling); });
      if (set != sets_.end()) {
        set->push_back(*sibling);
      } else {
        sets_.push_back({*sibling});
      }
    }
    std::erase_if(sets_, [](const auto& set) { return set.size() < 2; });
  }

  const std::vector<std::vector<Sibling>>& sets() const { return sets_; }

 private:
  const Layer& layer(LayerId id) const { return model_.layer(id); }
  const Conv& conv(const Sibling& sibling) const {
    return std::get<Conv>(layer(sibling.conv).kind);
  }

  /// Returns the only layer that reads the output, if it does so in the output's own shape.
  std::optional<LayerId> only_consumer(LayerId id) const {
    const TensorId made = layer(id).output;
    const auto consumers = model_.consumers(made);
    if (consumers.size() != 1) return {};
    const Layer& consumer = layer(consumers.front());
    if (consumer.inputs.size() == 1 && consumer.input_shapes[0] != model_.tensor(made).shape)
      return {};
    return consumers.front();
  }

  std::optional<Sibling> sibling_at(LayerId id) const {
    const Conv* const found = std::get_if<Conv>(&layer(id).kind);
    if (found == nullptr || found->kernel != Extent{1, 1} || found->groups != 1) return {};
    if (model_.is_output(layer(id).output)) return {};
    const auto consumer = only_consumer(id);
    if (!consumer) return Sibling{id, {}};
    if (std::holds_alternative<Sum>(layer(*consumer).kind)) return {};
    const bool same_block = layer(*consumer).block == layer(id).block;
    if (!is_activation(layer(*consumer).kind) || !same_block) return Sibling{id, {}};
    if (model_.is_output(layer(*consumer).output)) return {};
    return Sibling{id, *consumer};
  }

  bool fits(const Sibling& a, const Sibling& b) const {
    const Layer &first = layer(a.conv), &second = layer(b.conv);
    if (first.inputs != second.inputs || first.input_shapes != second.input_shapes) return false;
    if (first.block != second.block) return false;
    Conv as_wide = conv(b);
    as_wide.out_channels = conv(a).out_channels;
    if (as_wide != conv(a)) return false;
    if (a.activation.has_value() != b.activation.has_value()) return false;
    return !a.activation || layer(*a.activation).kind == layer(*b.activation).kind;
  }

  const Model& model_;
  std::vector<std::vector<Sibling>> sets_;  // by the first of each
};

/// Returns the chosen sets, each in the model's order. Throws InputError where a chosen set is not
/// part of one of the model's.
std::vector<std::vector<Sibling>> chosen_sets(const Model& model, const Merge& merge) {
  const Siblings siblings(model);
  if (merge.all) return siblings.sets();
  std::map<std::string, std::pair<std::size_t, Sibling>> by_name;
  for (std::size_t i = 0; i < siblings.sets().size(); ++i) {
    for (const Sibling& each : siblings.sets()[i]) by_name[model.layer(each.conv).name] = {i, each};
  }
  std::vector<std::vector<Sibling>> chosen;
  for (const std::vector<std::string>& names : merge.sets) {
    std::vector<Sibling>& set = chosen.emplace_back();
    for (const std::string& name : names) {
      const auto found = by_name.find(name);
      const auto first = by_name.find(names.front());
      if (found == by_name.end() || found->second.first != first->second.first) {
        throw InputError("model " + printable(model.name(), 200) + ": " + quote(name) +
                         " is no sibling of " +
                         quote(name == names.front() ? names[1] : names.front()) +
                         ", so they cannot be merged (docs/fusion.md)");
      }
      set.push_back(found->second.second);
    }
    std::ranges::sort(set, {}, [](const Sibling& each) { return each.conv; });
  }
  return chosen;
}

class Rewriter {
 public:
  explicit Rewriter(const Model& model)
      : model_(model), builder_(model.name(), model.tensor(model.input()).shape) {
    for (const Layer& layer : model.layers()) names_.insert(layer.name);
    tensors_.resize(model.tensors().size());
    tensors_[model.input().index()] = builder_.input();
  }

  Model merged(const Merge& merge) {
    const std::vector<std::vector<Sibling>> sets = chosen_sets(model_, merge);
    for (const auto& set : sets) {
      set_of_[set.front().conv] = &set;
      for (const Sibling& sibling : set) {
        left_out_.insert(sibling.conv);
        if (sibling.activation) left_out_.insert(*sibling.activation);
      }
    }
    for (std::size_t i = 0; i < model_.layers().size(); ++i) write(LayerId(i));
    return finished();
  }

 private:
  /// A member's channels in a wide tensor, whose slice is not added yet.
  struct Slice {
    TensorId wide;
    std::int64_t first = 0, count = 0;
  };

  void write(LayerId id) {
    const Layer& layer = model_.layer(id);
    if (const auto set = set_of_.find(id); set != set_of_.end()) return write_set(*set->second);
    if (left_out_.contains(id)) return;
    std::vector<TensorId> inputs;
    for (const TensorId input : layer.inputs) inputs.push_back(tensor(input));
    builder_.begin_block(layer.block);
    tensors_[layer.output.index()] =
        builder_.add(layer.name, layer.kind, std::move(inputs), layer.input_shapes);
  }

  void write_set(const std::vector<Sibling>& set) {
    const Layer& first = model_.layer(set.front().conv);
    Conv wide = std::get<Conv>(first.kind);
    wide.out_channels = 0;
    std::string name;
    std::vector<MergedConvolution> members;
    for (const Sibling& sibling : set) {
      const Layer& layer = model_.layer(sibling.conv);
      const std::int64_t channels = std::get<Conv>(layer.kind).out_channels;
      name += (name.empty() ? "" : "+") + layer.name;
      members.push_back({layer.name, channels});
      wide.out_channels += channels;
    }
    const TensorId input = tensor(first.inputs.front());
    builder_.begin_block(first.block);
    TensorId made = builder_.merged_conv(free_name(name), wide, input, first.input_shapes.front(),
                                         std::move(members));
    if (const auto activation = set.front().activation) {
      made = builder_.add(free_name(name + "/activation"), model_.layer(*activation).kind, {made});
    }
    std::int64_t from = 0;
    for (const Sibling& sibling : set) {
      const Layer& last = model_.layer(sibling.activation.value_or(sibling.conv));
      const std::int64_t count = model_.tensor(last.output).shape.c;
      slices_[last.output] = {made, from, count};
      from += count;
    }
  }

  /// Returns the tensor that replaces one of the model's; a slice is added now, for its first
  /// consumer.
  TensorId tensor(TensorId id) {
    if (const auto slice = slices_.find(id); slice != slices_.end()) {
      const auto [wide, first, count] = slice->second;
      const Layer& made_by = model_.layer(*model_.tensor(id).producer);
      builder_.begin_block(made_by.block);
      tensors_[id.index()] =
          builder_.add(made_by.name, channel_slice(builder_.shape(wide), first, count), {wide});
      slices_.erase(slice);
    }
    return *tensors_[id.index()];
  }

  std::string free_name(std::string name) {
    while (!names_.insert(name).second) name += '+';
    return name;
  }

  Model finished() {
    std::vector<NamedOutput> outputs(model_.named_outputs().begin(), model_.named_outputs().end());
    for (NamedOutput& output : outputs) output.tensor = tensor(output.tensor);
    builder_.share_weights(model_);
    if (model_.keeps_layer_names()) builder_.keep_layer_names();
    const auto inputs = model_.named_inputs();
    return std::move(builder_).build(std::move(outputs), {inputs.begin(), inputs.end()});
  }

  const Model& model_;
  ModelBuilder builder_;
  std::set<std::string> names_;
  std::map<LayerId, const std::vector<Sibling>*> set_of_;  // by the first of each
  std::set<LayerId> left_out_;
  std::vector<std::optional<TensorId>> tensors_;  // by the model's own
  std::map<TensorId, Slice> slices_;              // not added yet, by the model's own tensor
};

}  // namespace

std::vector<std::vector<LayerId>> sibling_sets(const Model& model) {
  std::vector<std::vector<LayerId>> sets;
  const Siblings siblings(model);
  for (const auto& set : siblings.sets()) {
    std::vector<LayerId>& ids = sets.emplace_back();
    for (const Sibling& sibling : set) ids.push_back(sibling.conv);
  }
  return sets;
}

Model merge_siblings(const Model& model, const Merge& merge) {
  return Rewriter(model).merged(merge);
}

}  // namespace hios
