#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/graph/cuts/cuts.h"
#include "hios/graph/network.h"
#include "hios/model/model.h"

namespace hios::test {

/// Tensors by name.
using NamedValues = std::map<std::string, std::vector<float>>;

/// Returns what each operator of the network gives on one rank, with random inputs and parameters.
NamedValues named_values(const Network& network, Backend& backend, std::uint64_t seed);

/// EXPECTs that tensors of the same name have the same bits, or are within the usual tolerance
/// where not `exact`, and that there are such tensors.
void expect_alike(const NamedValues& made, const NamedValues& expected, bool exact);

/// A model's values on some backends, with which those of its cuts are compared.
class WholeValues {
 public:
  /// The model outlives it.
  WholeValues(const Model& model, std::vector<std::unique_ptr<Backend>> backends);

  const Network& network() const { return whole_; }
  /// Expects the whole's bits in every output and in every tensor that has its name in the whole;
  /// where a backend does not certify the shards, its tolerance. Returns the number of these
  /// backends, of which the reference must be none.
  std::size_t expect_of(const Cuts& cuts) const;

 private:
  const Model& model_;
  Network whole_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<NamedValues> values_;  // by backend
};

/// Returns layers of every kind that is cut: a stride, padding, dilation, groups, sums, broadcasts.
Model kinds_that_are_cut();

/// Cuts that were made one at a time.
struct CutsTried {
  std::size_t cuts = 0;
  std::size_t inexact = 0;  ///< of cuts and backends: shards have other bits
};

/// Cuts each operator alone at each multiple of `step`, and compares (WholeValues).
CutsTried cut_everywhere(const WholeValues& whole, Axis axis, std::int64_t step);

}  // namespace hios::test
