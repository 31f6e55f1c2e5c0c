#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/run/plan.h"
#include "engine/run/rank_context.h"
#include "hios/schedule/schedule.h"

/// Whether a run computed what it should.
namespace hios::job {

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
  /// where memory is short: all outputs are kept, weights only while their operator runs. `stop` is
  /// asked before each operator; once it says yes, throws Stopped.
  OneRankRun(const CoarseGraph& coarse, const Model& model, Backend& backend,
             const std::vector<int>& threads_of, TensorSource& source, const std::string& progress,
             const std::function<bool()>& stop = {});
  struct Stopped {};
  /// A copy. REQUIRES: nothing runs on the backend.
  std::vector<float> output(OpId op) const;

 private:
  void allocate(const CoarseGraph& coarse, const Model& model);
  std::vector<const std::byte*> inputs_of(const CoarseGraph& coarse, OpId op, Buffer& input) const;
  /// A part of a buffer: of an operator's, in which its batches lie behind each other.
  struct Place {
    std::byte* first = nullptr;
    std::size_t elements = 0;
  };
  Backend& backend_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Place> outputs_;  // by OpId
};

/// The cores that each operator gets under a schedule, by OpId: a stage of k groups divides its
/// device's cores as core_shares() does. REQUIRES: validate() finds nothing.
std::vector<int> threads_of_operators(const Graph& graph, const ScheduleFile& schedule);

/// What a run's results are compared with the reference backend's for.
enum class Verify { kNo, kOutputs, kOperators };

struct VerifyOptions {
  Verify what = Verify::kOutputs;  ///< the graph's outputs, or every operator
  Tolerance tolerance = {};
  /// Whether all ranks compute in one way (backend, device, arithmetic), so that one rank's bits
  /// can be asked of all.
  bool alike = true;
  std::function<bool()> stop = {};  ///< as Protocol::stop: asked between operators
  bool reference = true;            ///< false: only bit by bit
};

/// What was found, over all ranks.
struct Verified {
  Comparison worst;            ///< of all values compared with the reference backend
  std::string worst_operator;  ///< where the largest absolute error stands
  std::string first_outside;   ///< the first operator beyond the tolerance, in topological order
  std::string first_unequal;   ///< the first whose bits are not those of one rank
  bool compared_bits = true;   ///< VerifyOptions::alike
  std::size_t operators = 0;   ///< compared
  bool passed() const { return worst.outside == 0; }
  bool bitwise() const { return first_unequal.empty(); }
  /// Takes in what was found for another input.
  void add(const Verified& other);
};

/// A run that has ended, on this rank.
struct EndedRun {
  RankContext rank;
  const ScheduleFile& schedule;
  const RankPlan& plan;
  /// A graph's output that this rank computed for the source's input, as the run left it; none: it
  /// computed nothing for that.
  std::function<std::vector<float>(OpId op)> output;
};

/// Compares what a run computed with the reference backend (within the tolerance) and with one rank
/// that gives each operator the same number of threads (bit by bit, where all ranks are alike): the
/// graph's outputs as the executor left them, or, with Verify::kOperators, every operator of a
/// further run that keeps all tensors. Collective; every rank gets the same answer.
/// Nothing where `stop` ended it. REQUIRES: with Verify::kOperators, as many ranks as the schedule
/// has devices.
std::optional<Verified> verify_run(const EndedRun& run, const VerifyOptions& options);

}  // namespace hios::job
