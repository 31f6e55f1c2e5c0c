#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "hios/base/ids.h"
#include "scheduler/batches/divisible.h"

namespace hios::scheduler {

/// Times of operators and transfers by the number of parts of the inputs that are run or sent at a
/// time, from one to all. Immutable. Refers to the problem, which outlives it.
class SizedTimes {
 public:
  explicit SizedTimes(const DivisibleProblem& problem);

  /// Returns the number of parts that all inputs have.
  std::size_t parts() const { return sizes_.size(); }
  /// Returns the time in ms of an operator of the whole graph; infinity where the device cannot run
  /// so many parts at a time. REQUIRES: 1 <= parts <= parts().
  double operator_ms(OpId op, std::size_t parts, DeviceId device) const;
  /// Returns the time in ms of an edge of the whole graph between two devices; infinity where it
  /// is not known for so many parts. REQUIRES: as operator_ms().
  double transfer_ms(EdgeId edge, std::size_t parts, DeviceId from, DeviceId to) const;

 private:
  struct Size {
    std::optional<CostModel> operators;    ///< of all
    std::vector<double> alone_ms;          ///< by operator and device, where some have no time
    std::unique_ptr<const Graph> sending;  ///< with edges of this size
    std::optional<CostModel> transfers;    ///< refers to `sending`
  };

  Size make_size(const DivisibleProblem& problem, std::int64_t inputs) const;
  void add_operators(const DivisibleProblem& problem, const Graph& graph, Size& size) const;

  std::size_t devices_;
  std::vector<Size> sizes_;  // by parts - 1
};

}  // namespace hios::scheduler
