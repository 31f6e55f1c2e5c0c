#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "engine/backend/backend.h"

namespace hios::cpu {

struct Binding;

/// The method of a convolution: direct, on the whole image at once or in blocks of so many rows, or
/// Winograd's, in blocks of so many rows, or of as many as fit into the cache. Written "direct",
/// "direct 9", "winograd", "winograd 12". The bits of the products inside Winograd's method may
/// depend on the threads and on the block's size (oneDNN 2.6: below AVX-512). Equal results need
/// core shares of equal size.
struct Method {
  bool winograd = false;
  std::int64_t rows = 0;  ///< 0: the whole image, or what fits
  auto operator<=>(const Method&) const = default;

  std::string text() const;
  static std::optional<Method> from(std::string_view text);
};

/// The method of each convolution that has several, by the operation's signature. Methods differ in
/// the last bits, so ranks agree on them (Backend::algorithms). A convolution that was not timed is
/// computed directly, and gives the same bits in every run. Main thread only.
class Choices {
 public:
  /// Adopts methods, {SIGNATURE: METHOD}; they replace those known for the same signature. Throws
  /// InputError.
  void adopt(const Json& methods);
  Method of(const Operation& operation) const;
  /// Returns the operation's known methods in the form that adopt() reads; empty: none.
  Json known(const Operation& operation) const;

  /// Returns true if the way of choosing times this operation: none is known, or none for parts.
  bool wants_timing(const Operation& operation, Choosing how) const;

  /// Times the methods in turns and keeps the fastest: one of Winograd's only if it takes less than
  /// 0.95 of the direct method's time. `in_blocks`: only in blocks of rows, which a shard has, too.
  /// `run` runs an operator on the binding's core share. Keeps
  /// nothing if there is one method only. The binding's inputs and output are read and written.
  /// REQUIRES: its choices are these.
  void time(const Binding& binding, bool in_blocks, const std::function<void(BoundOperator&)>& run);
  /// Takes the direct method, in blocks of so many rows; 0: the whole image at once.
  void take_direct(const Operation& operation, std::int64_t rows) {
    methods_[operation.signature] = Method{false, rows};
  }

 private:
  std::map<std::string, Method> methods_;
};

}  // namespace hios::cpu
