#pragma once

#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "hios/graph/coarsen.h"
#include "hios/schedule/schedule.h"

namespace hios {

/// |value − expected| ≤ atol + rtol · |expected|, for every element.
struct Tolerance {
  double atol = 1e-3;
  double rtol = 1e-3;
};

/// What a run in this arithmetic may differ from the fp32 reference, unless the user says
/// otherwise.
Tolerance default_tolerance(Precision precision);

struct Comparison {
  double max_abs = 0;       ///< infinite where a NaN or a lone infinity is among the values
  double max_rel = 0;       ///< over elements with |expected| > atol
  std::size_t outside = 0;  ///< elements beyond the tolerance, NaN included
  bool bitwise = true;      ///< the same bits, so that 0 and -0 differ
};

/// REQUIRES: as many values as expected ones.
Comparison compare(std::span<const float> values, std::span<const float> expected,
                   const Tolerance& tolerance);

/// Every operator's output, by OpId, computed here one after the other by one backend: the
/// reference backend for tolerance checks; for the bitwise check the run's own backend, each
/// operator with the number of threads that the schedule gives it.
class OneRankRun {
 public:
  /// `threads_of`: cores for each operator, by OpId. `progress` names what runs on a terminal;
  /// empty: shows nothing. The buffers are the backend's, which must outlive this. Throws RunError
  /// where memory is short: all outputs are kept, weights only while their operator runs.
  OneRankRun(const CoarseGraph& coarse, const Model& model, Backend& backend,
             const std::vector<int>& threads_of, TensorSource& source, const std::string& progress);
  /// A copy. REQUIRES: nothing runs on the backend.
  std::vector<float> output(OpId op) const;

 private:
  Backend& backend_;
  std::vector<std::unique_ptr<Buffer>> outputs_;
  std::vector<std::size_t> elements_;
};

/// The cores that each operator gets under a schedule, by OpId: a stage of k groups divides its
/// device's cores as `core shares` does. REQUIRES: validate() finds nothing.
std::vector<int> threads_of_operators(const Graph& graph, const ScheduleFile& schedule);

}  // namespace hios
