#include "engine/cpu/single/single.h"

#include <stdexcept>

namespace hios::cpu {

namespace {

/// Binds a layer by its kind.
struct SingleBinder {
  const Binding& binding;
  const Layer& layer;

  std::unique_ptr<BoundOperator> operator()(const auto& kind) const {
    return bind_single(binding, layer, kind);
  }
  // Kinds that have a form of their own.
  std::unique_ptr<BoundOperator> operator()(const Conv&) const { return other_form(); }
  std::unique_ptr<BoundOperator> operator()(const Pool&) const { return other_form(); }
  std::unique_ptr<BoundOperator> operator()(const GlobalAveragePool&) const { return other_form(); }
  std::unique_ptr<BoundOperator> operator()(const Relu&) const { return other_form(); }
  std::unique_ptr<BoundOperator> operator()(const Sum&) const { return other_form(); }
  std::unique_ptr<BoundOperator> other_form() const {
    throw std::logic_error(layer.name + " has a form of its own");
  }
};

}  // namespace

std::unique_ptr<BoundOperator> bind_form(const Binding& binding, const SingleForm& form) {
  const Layer& layer = binding.layer(form.layer);
  return std::visit(SingleBinder{binding, layer}, layer.kind);
}

}  // namespace hios::cpu
