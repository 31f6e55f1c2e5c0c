// Sets of tensors with distances: union-find whose links carry the byte of the parent at which a
// tensor begins. A move or join adds links, and is undone if they contradict. Sets are as small as
// the shards of one operator. Tests: tests/hios/graph/fusion/places_test.cpp.
#include "hios/graph/fusion/places.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <variant>

#include "hios/model/channel_slice.h"

namespace hios {
namespace {

using Distance = std::int64_t;

constexpr Distance kLine = 64;  // to which backends are promised that buffers are aligned

/// A tensor of a region, at a distance from the region's first tensor.
struct Member {
  std::size_t tensor;
  Distance begin;
};

class RegionBuilder {
 public:
  RegionBuilder(const Model& model, Bytes element_bytes)
      : model_(model),
        element_bytes_(static_cast<Distance>(element_bytes)),
        written_(model.tensors().size(), true),
        set_of_(model.tensors().size()),
        members_(model.tensors().size()) {
    std::iota(set_of_.begin(), set_of_.end(), std::size_t{0});
    for (std::size_t t = 0; t < members_.size(); ++t) members_[t] = {{t, 0}};
  }

  /// Makes the layer's output part of its inputs' regions. Returns false, with no effect, where
  /// that cannot be.
  bool place(const Layer& layer) {
    const std::optional<std::vector<Distance>> starts = starts_of(layer);
    if (!starts || model_.is_output(layer.output)) return false;
    std::vector<Member> all = {{layer.output.index(), 0}};
    std::vector<std::size_t> sets;
    for (std::size_t i = 0; i < layer.inputs.size(); ++i) {
      const std::size_t input = layer.inputs[i].index(), set = set_of_[input];
      const Distance shift = (*starts)[i] - begin_of(input);
      if (shift % kLine != 0) return false;
      if (std::ranges::count(sets, set) > 0) {
        if (!holds(all, {input, (*starts)[i]})) return false;
        continue;
      }
      sets.push_back(set);
      for (const Member& member : members_[set]) {
        all.push_back({member.tensor, member.begin + shift});
      }
    }
    written_[layer.output.index()] = false;
    if (written_twice(all)) {
      written_[layer.output.index()] = true;
      return false;
    }
    take(layer.output.index(), std::move(all));
    return true;
  }

  std::vector<Place> places() const {
    std::vector<Place> places(set_of_.size());
    for (std::size_t set = 0; set < members_.size(); ++set) {
      if (members_[set].empty()) continue;
      const Distance first = std::ranges::min(members_[set], {}, &Member::begin).begin;
      for (const Member& member : members_[set]) {
        places[member.tensor] = {set, static_cast<Bytes>(member.begin - first)};
      }
    }
    return places;
  }

 private:
  Distance size_of(std::size_t tensor) const {
    return model_.tensors()[tensor].shape.elements() * element_bytes_;
  }

  Distance begin_of(std::size_t tensor) const {
    return std::ranges::find(members_[set_of_[tensor]], tensor, &Member::tensor)->begin;
  }

  /// Returns the bytes of the layer's output at which its inputs begin; empty where its output is
  /// not theirs in order.
  std::optional<std::vector<Distance>> starts_of(const Layer& layer) const {
    if (const Move* const move = std::get_if<Move>(&layer.kind)) {
      const std::optional<std::int64_t> first = first_neighbour(*move);
      if (!first) return {};
      return std::vector<Distance>{-*first * element_bytes_};
    }
    const Concat* const join = std::get_if<Concat>(&layer.kind);
    if (join == nullptr || join->axis != Axis::kH || model_.tensor(layer.output).shape.n != 1) {
      return {};
    }
    std::vector<Distance> starts;
    Distance next = 0;
    for (const TensorId input : layer.inputs) {
      starts.push_back(next);
      next += size_of(input.index());
    }
    return starts;
  }

  static bool holds(const std::vector<Member>& members, const Member& member) {
    return std::ranges::find(members, member.tensor, &Member::tensor)->begin == member.begin;
  }

  /// Returns true where two layers would write a byte, or one would write the model's input's.
  bool written_twice(const std::vector<Member>& members) const {
    std::vector<Member> written;
    for (const Member& member : members) {
      if (written_[member.tensor]) written.push_back(member);
    }
    std::ranges::sort(written, {}, &Member::begin);
    for (std::size_t i = 1; i < written.size(); ++i) {
      if (written[i].begin < written[i - 1].begin + size_of(written[i - 1].tensor)) return true;
    }
    const bool has_input = std::ranges::count(written, model_.input().index(), &Member::tensor) > 0;
    return has_input && written.size() > 1;
  }

  void take(std::size_t set, std::vector<Member> members) {
    for (const Member& member : members) {
      members_[set_of_[member.tensor]].clear();
    }
    for (const Member& member : members) set_of_[member.tensor] = set;
    members_[set] = std::move(members);
  }

  const Model& model_;
  Distance element_bytes_;
  std::vector<bool> written_;  // by tensor: a layer that is no view writes it, or it is the input
  std::vector<std::size_t> set_of_;
  std::vector<std::vector<Member>> members_;  // by set; empty: it was taken into another
};

}  // namespace

Places::Places(const Model& model, Bytes element_bytes, const std::vector<bool>& alone)
    : views_(model.layers().size(), false) {
  RegionBuilder regions(model, element_bytes);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const Layer& layer = model.layers()[i];
    views_[i] = alone[i] && !layer.origin && regions.place(layer);
  }
  of_ = regions.places();
}

}  // namespace hios
