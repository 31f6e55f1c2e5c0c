#include "hios/graph/sized_networks.h"

#include <algorithm>
#include <utility>

#include "hios/base/error.h"
#include "hios/graph/separate_inputs.h"

namespace hios {
namespace {

using BySize = std::map<std::int64_t, std::shared_ptr<const Network>>;

bool same_layers(const Network& a, const Network& b) {
  const auto alike = [](const Layer& x, const Layer& y) {
    return x.name == y.name && x.inputs == y.inputs && x.output == y.output &&
           x.kind.index() == y.kind.index();
  };
  const auto same_operator = [](const OperatorLayers& x, const OperatorLayers& y) {
    return x.layers == y.layers && x.inputs == y.inputs;
  };
  return std::ranges::equal(a.model.layers(), b.model.layers(), alike) &&
         std::ranges::equal(a.coarse.operators, b.coarse.operators, same_operator);
}

BySize make_all(const BatchSizes& sizes, const std::function<Network(std::int64_t)>& made) {
  BySize all;
  for (const std::int64_t size : sizes) {
    try {
      all.emplace(size, std::make_shared<const Network>(made(size)));
    } catch (const InputError& error) {
      if (size == sizes.back()) throw;
      throw InputError(std::string(error.what()) + " (with " + std::to_string(size) + " of " +
                       std::to_string(sizes.back()) + " inputs at a time)");
    }
  }
  const Network& whole = *all.rbegin()->second;
  if (!whole.cuts.empty()) {
    throw InputError(
        quote(whole.model.name()) +
        ": operators that are cut run all inputs at a time; leave the cuts out, or the "
        "division of the inputs");
  }
  if (sizes.size() > 1) require_separate_inputs(whole.model);
  for (const auto& [size, network] : all) {
    if (same_layers(*network, whole)) continue;
    throw InputError(quote(whole.model.name()) + " has other layers for " + std::to_string(size) +
                     " inputs than for " + std::to_string(sizes.back()) +
                     ", so that they cannot be divided");
  }
  return all;
}

}  // namespace

SizedNetworks::SizedNetworks(BatchSizes sizes, const std::function<Network(std::int64_t)>& made)
    : by_size_(make_all(sizes, made)), graphs_(std::move(sizes), [this](std::int64_t size) {
        return by_size_.at(size)->coarse.graph;
      }) {}

Network SizedNetworks::divide(std::vector<Batch> batches) const {
  const CoarseGraph& from = whole().coarse;
  CoarseGraph divided{.graph = hios::divide(graphs_, std::move(batches)),
                      .operators = {},
                      .producer_of = from.producer_of,
                      .element_bytes = from.element_bytes};
  divided.first_together = batches_together(divided.graph);
  for (const auto& [op, inputs] : divided.graph.batching()->batches) {
    const auto& network = by_size_.at(inputs.size());
    divided.operators.push_back(network->coarse.layers(op));
    divided.wanted.push_back(from.is_output(op));
    // The network owns the model.
    divided.batch_models.try_emplace(inputs.size(), network, &network->model);
  }
  return Network(whole().model, std::move(divided), whole().merge);
}

}  // namespace hios
