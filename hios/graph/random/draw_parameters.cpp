// Part of hios/graph/random/random_dag.h: parameters of operators, for cold starts.
//
// Bytes, the choice of operators that can be read in place and their times come from streams of
// random numbers of their own, so no other number depends on them. An operator in place takes at
// least its own time: it computes the same, and its parameters come over a bus.
// tests/hios/graph/random/random_parameters_test.cpp checks the rules.
#include <cmath>

#include "hios/base/error.h"
#include "hios/graph/random/families.h"

namespace hios::families {
namespace {

constexpr double kLeastInPlace = 1, kMostInPlace = 4;  ///< multiples of an operator's time

}  // namespace

std::size_t share_of(std::size_t operators, double share) {
  return static_cast<std::size_t>(std::floor(share * static_cast<double>(operators) + 0.5));
}

void draw_parameters(GraphDraft& draft, const RandomDag& parameters) {
  if (!parameters.parameters.bytes) return;
  const auto& [least, most] = *parameters.parameters.bytes;
  if (least > most || most > kMaxParameterBytes) {
    throw InputError(key_words("parameters") + "is out of its range");
  }
  Random random(parameters.seed, "random_dag parameters");
  for (Operator& op : draft.operators) op.parameter_bytes = least + random.below(most - least + 1);
}

void draw_in_place(GraphDraft& draft, const RandomDag& parameters) {
  const double share = parameters.parameters.in_place;
  if (!(share >= 0 && share <= 1)) throw InputError(key_words("in-place") + "must be 0 to 1");
  if (share == 0) return;
  std::vector<std::size_t> order;
  for (std::size_t v = 0; v < draft.operators.size(); ++v) {
    if (draft.operators[v].parameter_bytes > 0) order.push_back(v);
  }
  if (order.empty()) {
    throw InputError(key_words("in-place") +
                     "no operator has parameters; give them some, as in parameters=0-4000000");
  }
  Random random(parameters.seed, "random_dag in place");
  shuffle(order, random);
  order.resize(share_of(order.size(), share));
  for (const std::size_t v : order) {
    Operator& op = draft.operators[v];
    const double factor = random.uniform(kLeastInPlace, kMostInPlace);
    if (op.has_time) op.in_place_ms = op.time_ms * factor;
    for (const auto& [device, ms] : op.time_by_device) op.in_place_by_device[device] = ms * factor;
  }
}

}  // namespace hios::families
