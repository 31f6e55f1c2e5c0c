#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/graph/cuts/cut_operators.h"

namespace hios {

/// A test of the shards of a cut network: each must give, bit for bit, the rows or channels of its
/// whole operator. Libraries promise that for no algorithm, so it is measured, on random values, by
/// the algorithms that the backend has at that time. Refers to its arguments.
class Certification {
 public:
  Certification(Backend& backend, const CoarseGraph& coarse, const Model& model);

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
  std::string key_of(const CutOperator& cut);
  bool computes_the_same(const CutOperator& cut);

  Backend& backend_;
  const CoarseGraph& coarse_;
  const Model& model_;
  std::vector<CutOperator> cut_;
  std::map<std::string, bool> known_;
};

/// Returns the names of the cut operators of which some shard gives other bits by the backend's
/// algorithms, as the file of cuts has them.
std::vector<std::string> uncertified(Backend& backend, const CoarseGraph& coarse,
                                     const Model& model);

}  // namespace hios
