#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/cold/kept_parameters.h"
#include "engine/run/plan/plan.h"
#include "engine/run/rank_context.h"
#include "hios/schedule/schedule.h"

/// Comparison of a run's outputs with the reference backend and with one rank.
namespace hios::job {

/// |value − expected| ≤ atol + rtol · |expected|, for every element.
struct Tolerance {
  double atol = 1e-3;
  double rtol = 1e-3;
};

/// Returns the default tolerance between a run in this arithmetic and the fp32 reference.
Tolerance default_tolerance(Precision precision);

struct Comparison {
  double max_abs = 0;       ///< infinite where one of two values is a NaN, or a lone infinity
  double max_rel = 0;       ///< over elements with |expected| > atol
  std::size_t outside = 0;  ///< elements beyond the tolerance, those that one side has as NaN too
  std::size_t nan = 0;      ///< elements that are NaN on both sides, which agree
  bool bitwise = true;      ///< all bits are the same, so that 0 and -0 differ
};

/// Compares values with expected ones. REQUIRES: equal numbers of both.
Comparison compare(std::span<const float> values, std::span<const float> expected,
                   const Tolerance& tolerance);

/// Every operator's output, by OpId, computed here one after the other by one backend: for
/// tolerance checks the reference backend; for the bitwise check the run's own backend, where each
/// operator has the number of threads that the schedule gives it.
class OneRankRun {
 public:
  /// `threads_of`: cores for each operator, by OpId. `progress`: the text of the progress line on a
  /// terminal; empty: shows none. The buffers are the backend's, which must outlive this. Throws
  /// RunError where memory is short: all outputs are kept, weights only while their operator runs.
  /// `stop` is called before each operator; when it returns true, throws Stopped.
  OneRankRun(const CoarseGraph& coarse, const Model& model, Backend& backend,
             const std::vector<int>& threads_of, TensorSource& source, const std::string& progress,
             const std::function<bool()>& stop = {});
  struct Stopped {};
  /// Returns a copy of an operator's output. REQUIRES: nothing runs on the backend.
  std::vector<float> output(OpId op) const;

 private:
  void allocate(const CoarseGraph& coarse);
  std::vector<const std::byte*> inputs_of(const CoarseGraph& coarse, const Model& model, OpId op,
                                          Buffer& input) const;
  /// An operator's output: a range of a buffer, in which the operator's batches are contiguous.
  struct Output {
    std::byte* first = nullptr;
    std::size_t elements = 0;
  };
  Backend& backend_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Output> outputs_;  // by OpId
};

/// Returns the cores of each operator under a schedule, by OpId: a stage of k groups divides its
/// device's cores as core_shares() does. REQUIRES: validate() finds nothing.
std::vector<int> threads_of_operators(const Graph& graph, const ScheduleFile& schedule);

/// The results that are compared with the reference backend's.
enum class Verify { kNo, kOutputs, kOperators };

struct VerifyOptions {
  Verify what = Verify::kOutputs;  ///< the graph's outputs, or every operator
  Tolerance tolerance = {};
  /// All ranks compute in the same way (AgreedAlgorithms::by_all), so that all must have the bits
  /// of one rank.
  bool alike = true;
  std::function<bool()> stop = {};  ///< see Protocol::stop; called between operators
  bool reference = true;            ///< false: compares bits only
  /// A network that was cut is compared with its whole, Model::whole(); false: with itself.
  bool whole = true;
};

/// The result of a verification, over all ranks.
struct Verified {
  Comparison worst;            ///< over all values compared with the reference backend
  std::string worst_operator;  ///< the operator with the largest absolute error
  std::string first_outside;   ///< the first operator beyond the tolerance, in topological order
  std::string first_unequal;   ///< the first whose bits are not those of one rank
  bool compared_bits = true;   ///< VerifyOptions::alike
  std::size_t operators = 0;   ///< the number compared
  bool passed() const { return worst.outside == 0; }
  bool bitwise() const { return first_unequal.empty(); }
  /// Adds the result for another input.
  void add(const Verified& other);
};

/// A run that has ended, on this rank.
struct EndedRun {
  RankContext rank;
  /// The source of the values that the run is compared with: its own, or for a cold start one with
  /// the same values, of which the backend has bound nothing yet.
  TensorSource& judge;
  const ScheduleFile& schedule;
  const RankPlan& plan;
  LoadOptions loads = {};                 ///< of a plan with loads
  std::vector<std::size_t> sharers = {};  ///< PlanOptions::sharers of the plan
  /// Returns a graph output that this rank computed for the source's input; empty: it computed
  /// none.
  std::function<std::vector<float>(OpId op)> output;
};

/// Compares a run's outputs with the reference backend (within the tolerance) and with one rank
/// that computes by the same algorithms, those of this rank's backend, and gives each operator the
/// same number of threads (bit by bit, where all ranks are alike). Of a network that was cut, both
/// compute the whole one, operators that were cut on all threads of the backend.
/// These are the graph's outputs as the executor left them, or, with Verify::kOperators, the
/// outputs of every operator in a further run that keeps all tensors. Collective; every rank gets
/// the same result, which is empty where `stop` ended the comparison. REQUIRES: with
/// Verify::kOperators, as many ranks as the schedule has devices.
std::optional<Verified> verify_run(const EndedRun& run, const VerifyOptions& options);

}  // namespace hios::job
