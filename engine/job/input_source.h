#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/backend/tensor_source.h"

/// Sources of a job's weights and inputs.
namespace hios::job {

/// The weights and inputs of the model or the seed, except input 0, which is the user's if given.
class InputSource final : public TensorSource {
 public:
  /// `given` is empty or as large as the model's input, and outlives this. `forgets`: forget()
  /// frees weights of the model (Model::forget_weights), which nothing else may read then.
  InputSource(std::uint64_t seed, const std::vector<float>& given, bool forgets = false)
      : seeded_(seed), given_(given), forgets_(forgets) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override;
  std::span<const float> weights_in_memory(const Model& model, const Layer& layer) const override;
  void forget(const Model& model, const Layer& layer) override;
  void bias(const Model& model, const Layer& layer, std::span<float> out) override;
  void input(const Model& model, std::span<float> out) override;
  void numbered_input(const Model& model, std::size_t number, std::span<float> out) override;

 private:
  SeededSource seeded_;
  const std::vector<float>& given_;
  bool forgets_;
};

/// A source whose input is one of the inputs of another source.
class OneInput final : public TensorSource {
 public:
  OneInput(TensorSource& source, std::size_t number) : source_(source), number_(number) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override;
  void bias(const Model& model, const Layer& layer, std::span<float> out) override;
  void input(const Model& model, std::span<float> out) override;

 private:
  TensorSource& source_;
  std::size_t number_;
};

}  // namespace hios::job
