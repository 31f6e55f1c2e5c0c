#include "engine/cuda/operators/single/single.h"

#include <stdexcept>

namespace hios::cuda {

namespace {

/// Binds a layer by its kind.
struct LayerBinder {
  const Binding& binding;
  const Layer& layer;

  BoundLayer operator()(const auto& kind) const { return bind_single(binding, layer, kind); }
  // Kinds that have a form of their own.
  BoundLayer operator()(const Conv&) const { return other_form(); }
  BoundLayer operator()(const Pool&) const { return other_form(); }
  BoundLayer operator()(const GlobalAveragePool&) const { return other_form(); }
  BoundLayer operator()(const Relu&) const { return other_form(); }
  BoundLayer operator()(const Sum&) const { return other_form(); }
  BoundLayer other_form() const { throw std::logic_error(layer.name + " has a form of its own"); }
};

}  // namespace

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const SingleForm& form) {
  const Layer& layer = binding.layer(form.layer);
  return std::visit(LayerBinder{binding, layer}, layer.kind);
}

}  // namespace hios::cuda
