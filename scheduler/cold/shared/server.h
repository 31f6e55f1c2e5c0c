#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hios/evaluate/cost_model.h"
#include "hios/graph/parameters.h"

namespace hios::scheduler::cold {

/// A model of a server, and its share of the requests.
struct ServedModel {
  const CostModel* costs = nullptr;  ///< on the server's platform; outlives it
  double share = 0;
};

/// Parameters of one or several models of a server, which it keeps once on a device. Equal labels
/// (Operator::parameters) of different models are the same bytes.
struct SharedSet {
  std::string name;                                 ///< the label, or the name of its only operator
  Bytes size_bytes = 0;                             ///< more than 0
  std::vector<std::optional<std::size_t>> of = {};  ///< by model: its index in ParameterSets
};

/// Several models that share the devices of a platform. Each device keeps parameters between
/// requests, up to a limit. Immutable.
class Server {
 public:
  /// `keep_bytes`: the most that each device keeps, within its memory. Shares are divided by their
  /// sum. Throws InputError: no models, two graphs of one name, a share that is no number above 0,
  /// equal labels of different sizes. REQUIRES: all costs are on one platform, with a topology.
  Server(std::vector<ServedModel> models, Bytes keep_bytes);

  std::span<const ServedModel> models() const { return models_; }
  const Platform& platform() const { return models_.front().costs->platform(); }
  const Graph& graph(std::size_t model) const { return models_[model].costs->graph(); }
  const ParameterSets& parameters(std::size_t model) const { return parameters_[model]; }
  /// Returns the most bytes that a device keeps.
  Bytes limit(DeviceId device) const { return limits_[device.index()]; }
  /// Returns the sum over devices, or the largest number.
  Bytes all_limits() const;
  std::span<const SharedSet> sets() const { return sets_; }
  /// Returns the index in sets() of a model's set.
  std::size_t shared(std::size_t model, std::size_t set) const { return shared_[model][set]; }

 private:
  void add_sets(std::size_t model);

  std::vector<ServedModel> models_;
  std::vector<ParameterSets> parameters_;  // by model
  std::vector<Bytes> limits_;              // by device
  std::vector<SharedSet> sets_;
  std::vector<std::vector<std::size_t>> shared_;  // model × its set
};

}  // namespace hios::scheduler::cold
