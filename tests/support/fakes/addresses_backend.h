#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/fakes/fake_backend.h"

namespace hios::test {

/// Notes the addresses that operators are bound to.
class AddressesBackend final : public FakeBackend {
 public:
  struct Addresses {
    std::vector<const std::byte*> inputs;
    const std::byte* output = nullptr;
  };

  using FakeBackend::FakeBackend;
  std::map<std::string, Addresses> of;  ///< by the operator's name

  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override {
    of[operation.name] = {{inputs.begin(), inputs.end()}, output};
    return FakeBackend::bind(operation, inputs, output, share, source);
  }

  /// Returns the number of tensors that do not begin at a multiple of so many bytes.
  std::size_t misaligned(std::uintptr_t bytes) const {
    std::size_t count = 0;
    const auto add = [&](const std::byte* address) {
      count += reinterpret_cast<std::uintptr_t>(address) % bytes == 0 ? 0 : 1;
    };
    for (const auto& [name, addresses] : of) {
      for (const std::byte* const input : addresses.inputs) add(input);
      add(addresses.output);
    }
    return count;
  }
};

}  // namespace hios::test
