#include "scheduler/cold/shared/server.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "hios/base/error.h"
#include "scheduler/structures/saturating_sum.h"

// Tests: tests/scheduler/cold/shared/server_test.cpp.

namespace hios::scheduler::cold {
namespace {

std::string graph_name(const Graph& graph) { return "'" + printable(graph.name()) + "'"; }

/// Divides the shares by their sum.
void normalise_shares(std::vector<ServedModel>& models) {
  double sum = 0;
  for (const ServedModel& model : models) {
    if (!std::isfinite(model.share) || model.share <= 0) {
      throw InputError("the share of " + graph_name(model.costs->graph()) +
                       " is no number above 0; leave a model without requests out");
    }
    sum += model.share;
  }
  if (!std::isfinite(sum)) throw InputError("the sum of the shares is too large a number");
  for (ServedModel& model : models) model.share /= sum;
}

}  // namespace

Server::Server(std::vector<ServedModel> models, Bytes keep_bytes) : models_(std::move(models)) {
  if (models_.empty()) throw InputError("a server needs models");
  normalise_shares(models_);
  for (const Device& device : platform().devices()) {
    limits_.push_back(device.memory_bytes > 0 ? std::min(keep_bytes, device.memory_bytes)
                                              : keep_bytes);
  }
  for (std::size_t m = 0; m < models_.size(); ++m) {
    for (std::size_t other = 0; other < m; ++other) {
      if (graph(m).name() != graph(other).name()) continue;
      throw InputError("two models have the name " + graph_name(graph(m)) +
                       "; give a model once, with all of its share, and two models two names");
    }
    add_sets(m);
  }
}

void Server::add_sets(std::size_t model) {
  const ParameterSets& own = parameters_.emplace_back(graph(model));
  shared_.emplace_back();
  for (std::size_t s = 0; s < own.sets().size(); ++s) {
    const ParameterSets::Set& set = own.sets()[s];
    const std::string& label = graph(model).op(set.operators.front()).parameters;
    const auto is_same = [&](const SharedSet& known) {
      if (label.empty() || known.name != label) return false;
      for (std::size_t m = 0; m < model; ++m) {
        if (!known.of[m]) continue;
        return !graph(m)
                    .op(parameters_[m].sets()[*known.of[m]].operators.front())
                    .parameters.empty();
      }
      return false;
    };
    const auto found = std::ranges::find_if(sets_, is_same);
    const auto index = static_cast<std::size_t>(found - sets_.begin());
    if (found == sets_.end()) {
      sets_.push_back(
          {set.name, set.size_bytes, std::vector<std::optional<std::size_t>>(models_.size())});
    } else if (found->size_bytes != set.size_bytes) {
      throw InputError("graph " + graph_name(graph(model)) + ": '" +
                       printable(graph(model).op(set.operators.front()).name) +
                       "' has parameters '" + printable(label) + "' of " +
                       std::to_string(set.size_bytes) + " bytes, and another model has " +
                       std::to_string(found->size_bytes) +
                       "; equal labels are the same bytes, so give one of them another label");
    }
    sets_[index].of[model] = s;
    shared_.back().push_back(index);
  }
}

Bytes Server::all_limits() const {
  Bytes sum = 0;
  for (const Bytes each : limits_) sum = saturating_sum(sum, each);
  return sum;
}

}  // namespace hios::scheduler::cold
