#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hios/graph/graph.h"
#include "hios/platform/platform.h"

namespace hios {

/// The parameters of a graph: the bytes that must be on a device, or within its reach, before an
/// operator runs. Operators with equal labels (Operator::parameters) share them; an operator
/// without a label has its own.
class ParameterSets {
 public:
  /// A set of parameters.
  struct Set {
    std::string name;             ///< the label, or the name of its only operator
    Bytes size_bytes = 0;         ///< more than 0
    std::vector<OpId> operators;  ///< the operators that read it, ascending
  };

  /// Throws InputError where operators with equal labels differ in parameter_bytes.
  explicit ParameterSets(const Graph& graph);

  std::span<const Set> sets() const { return sets_; }
  /// Returns the index of an operator's set; nothing where it has no parameters.
  std::optional<std::size_t> of(OpId op) const;

 private:
  std::vector<Set> sets_;
  std::vector<std::size_t> of_;  // by operator; SIZE_MAX: none
};

/// Returns the time of an operator that reads its parameters where a store keeps them, with all
/// buses to itself: by the device's name, then its kind, then for all devices. Nothing where the
/// graph gives none: it cannot be read in place there.
std::optional<double> in_place_ms(const Operator& op, const Device& device);

/// Returns the bytes that such a run reads from the store.
inline Bytes in_place_bytes(const Operator& op) {
  return op.in_place_bytes.value_or(op.parameter_bytes);
}

}  // namespace hios
