#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"

namespace hios::test {

/// The parameters of a fake backend's operators, each layer's weights and bias once for each
/// source. They live as long as an operator holds them.
class FakeParameters {
 public:
  /// Memory and its owner.
  using Block = std::pair<std::shared_ptr<void>, std::byte*>;
  /// Returns memory, on the host if `in_place`.
  using Allocate = std::function<Block(Bytes size_bytes, bool in_place)>;
  /// Writes host memory to a block.
  using Write = std::function<void(std::byte* to, const std::byte* from, Bytes size_bytes)>;

  /// A stretch of memory, as large as a multiple of 64 bytes, of which no other shares a byte.
  struct Part {
    std::shared_ptr<void> owner;
    std::span<std::byte> bytes;
  };
  using Parts = std::vector<Part>;

  /// See Backend::reserve_parameters.
  void reserve(Bytes size_bytes) { to_reserve_ = size_bytes; }
  /// Returns the parts of all layers of an operation, which they outlive.
  std::shared_ptr<const Parts> get(const Operation& operation, TensorSource& source,
                                   const Allocate& allocate, const Write& write);
  std::vector<std::span<std::byte>> memory(const Operation& operation,
                                           const TensorSource& source) const;

 private:
  using Key = std::tuple<const TensorSource*, const Model*, std::string>;
  Part take(Bytes size_bytes, bool in_place, const Allocate& allocate);

  std::map<Key, std::weak_ptr<const Parts>> known_;
  Bytes to_reserve_ = 0, left_ = 0;
  std::weak_ptr<void> reserved_;
  std::byte* next_ = nullptr;
};

}  // namespace hios::test
