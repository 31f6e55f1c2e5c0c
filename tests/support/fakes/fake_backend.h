#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/base/numbers/random.h"
#include "support/fakes/fake_parameters.h"

namespace hios::test {

/// A backend whose operators compute nothing useful and reveal every fault: every value of an
/// output depends on the operator's name and on every bit of every input. Before an operator may
/// write, its output is poisoned; in a stage of several groups all outputs are poisoned at the
/// start, since groups run in no known order (here: interleaved randomly). So a slot that is reused
/// too early shows in the result.
class FakeBackend : public Backend {
 public:
  explicit FakeBackend(int threads = 1, std::uint64_t seed = 0)
      : threads_(threads), random_(seed) {}

  /// Names of an operator that `unsupported` refuses, and of one that throws when it runs.
  std::string refused, failing;
  /// Precision of its tensors; in fp16 their elements have two bytes.
  Precision arithmetic = Precision::kFp32;
  /// It calls `poll` between operators.
  bool polls = true;
  /// Outputs depend on parameters, too, which it shows.
  bool with_parameters = false;
  /// The reason why operators cannot read parameters in host memory; empty: they can.
  std::string no_reads_in_place;
  /// Called before an operator runs.
  std::function<void(const std::string& name)> on_run;
  /// The operators run so far, and the core shares of all bound operators.
  std::vector<std::string> ran;
  std::vector<std::pair<std::string, CoreShare>> bound;

  /// Fills the buffers of tensors, so that no value of an iteration remains.
  void poison_tensors();

  std::string_view name() const override { return "fake"; }
  std::string_view kind() const override { return "cpu"; }
  int threads() const override { return threads_; }
  Precision precision() const override { return arithmetic; }
  Json describe() const override { return {{"library", "none"}}; }
  std::optional<std::string> unsupported(const Operation& operation) const override;
  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override;
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override;
  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                 void (*poll)(void*), void* poll_argument) override;
  bool shows_parameters() const override { return with_parameters; }
  std::vector<std::span<std::byte>> parameter_memory(const Operation& operation,
                                                     const TensorSource& source) override {
    return parameters_.memory(operation, source);
  }
  void reserve_parameters(Bytes size_bytes) override { parameters_.reserve(size_bytes); }
  std::optional<std::string> unsupported_in_place() const override {
    return no_reads_in_place.empty() ? std::nullopt : std::optional(no_reads_in_place);
  }

 protected:
  /// Returns memory for parameters, on the host if `in_place`.
  virtual FakeParameters::Block allocate_parameters(Bytes size_bytes, bool in_place);
  /// Poisons the output of an operator of this backend before it may write; ignores others.
  static void poison_output(BoundOperator* op);
  std::vector<std::span<std::byte>> tensors_;

 private:
  int threads_;
  Random random_;
  FakeParameters parameters_;
  std::vector<std::size_t> next_;  // by group of the running stage; a member, to avoid allocations
};

/// A source whose input values are their positions; all weights are 0.
class FakeSource final : public TensorSource {
 public:
  void weights(const Model&, const Layer&, std::span<float> out) override;
  void bias(const Model&, const Layer&, std::span<float> out) override;
  void input(const Model&, std::span<float> out) override;
  void numbered_input(const Model&, std::size_t number, std::span<float> out) override;
};

/// Returns the precision of a graph's tensors: fp32, or fp16 if elements have two bytes.
Precision arithmetic_of(const CoarseGraph& coarse);
/// Returns a tensor's values as floats.
std::vector<float> as_floats(std::span<const std::byte> tensor, Precision precision);

/// Returns every operator's output, by OpId, each in memory of its own, computed one after another.
std::vector<std::vector<std::byte>> evaluate_alone(const CoarseGraph& coarse, const Model& model,
                                                   Backend& backend, TensorSource& source);

}  // namespace hios::test
