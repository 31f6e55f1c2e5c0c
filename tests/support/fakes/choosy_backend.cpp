#include "support/fakes/choosy_backend.h"

#include <utility>

namespace hios::test {

ChoosyBackend::ChoosyBackend(Json choice, std::string name)
    : choice_(std::move(choice)), name_(std::move(name)) {}

Json ChoosyBackend::describe() const {
  Json description = FakeBackend::describe();
  if (!gpu.empty()) description["gpu"] = gpu;
  return description;
}

Json ChoosyBackend::algorithms(const Operation& operation, Choosing) {
  ++asked;
  const auto known = adopted.find(operation.name);
  const Json algorithm = known == adopted.end() ? choice_ : *known;
  Json result = Json::object();
  if (!algorithm.is_null()) result[operation.name] = algorithm;
  return result;
}

// A fake operator's bits depend on its name.
std::unique_ptr<BoundOperator> ChoosyBackend::bind(const Operation& operation,
                                                   std::span<const std::byte* const> inputs,
                                                   std::byte* output, const CoreShare& share,
                                                   TensorSource& source) {
  Operation by_algorithm = operation;
  const auto known = adopted.find(operation.name);
  if (known != adopted.end()) by_algorithm.name += " by " + known->dump();
  return FakeBackend::bind(by_algorithm, inputs, output, share, source);
}

}  // namespace hios::test
