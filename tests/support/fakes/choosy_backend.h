#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "support/fakes/fake_backend.h"

namespace hios::test {

/// A backend with several algorithms for each operator, by its name, all of which give other bits.
class ChoosyBackend final : public FakeBackend {
 public:
  /// `choice`: what it chooses for each operator for which it has adopted nothing; null: it chooses
  /// nothing, and computes by its default.
  explicit ChoosyBackend(Json choice = nullptr, std::string name = "choosy");

  /// The number of operators for which it was asked.
  std::size_t asked = 0;
  Json adopted = Json::object();
  /// The GPU that it says it computes on; empty: none.
  std::string gpu;

  std::string_view name() const override { return name_; }
  Json describe() const override;
  Json algorithms(const Operation& operation, Choosing how) override;
  void adopt(const Json& algorithms) override { adopted.update(algorithms); }
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override;

 private:
  Json choice_;
  std::string name_;
};

}  // namespace hios::test
