#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/graph/cuts/cut_operators.h"

namespace hios {

/// A test of the shards of a cut network: each must give, bit for bit, the rows or channels of its
/// whole operator. Libraries promise that for no algorithm, so it is measured, by the algorithms
/// that the backend has at that time. Inputs are drawn from -1 to 1, and of very different sizes
/// with zeros of either sign; parameters likewise. Refers to its arguments.
class Certification {
 public:
  /// Shards are computed with each number of cores that a group of a stage of up to `streams`
  /// groups may have; the whole has all cores.
  Certification(Backend& backend, const CoarseGraph& coarse, const Model& model, int streams = 1);

  /// Returns the operators that were cut and that the backend supports.
  const std::vector<CutOperator>& operators() const { return cut_; }
  /// Returns the operation of the whole operator, or of a shard.
  Operation whole(const CutOperator& cut) const;
  Operation shard(const CutOperator& cut, std::size_t index) const;

  /// Returns true if all shards give the bits of the whole. Operators with equal signatures, shards
  /// and algorithms are computed once. Throws RunError where memory is short. REQUIRES: one of
  /// operators().
  bool certifies(const CutOperator& cut);

 private:
  using Draws = std::vector<std::vector<std::vector<float>>>;
  std::string key_of(const CutOperator& cut);
  bool computes_the_same(const CutOperator& cut);
  bool computes_the_same(const CutOperator& cut, const Draws& draws, TensorSource& source);

  Backend& backend_;
  const CoarseGraph& coarse_;
  const Model& model_;
  std::vector<CutOperator> cut_;
  std::set<int> cores_;  // of shards
  std::map<std::string, bool> known_;
};

/// Returns the names of the cut operators of which some shard gives other bits by the backend's
/// algorithms, as the file of cuts has them.
std::vector<std::string> uncertified(Backend& backend, const CoarseGraph& coarse,
                                     const Model& model, int streams = 1);

}  // namespace hios
