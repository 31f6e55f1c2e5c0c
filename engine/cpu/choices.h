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

/// How a convolution is computed: directly, or by Winograd's method, the whole image at once or in
/// blocks of so many rows a thread. Written "direct", "winograd", "winograd 12". Winograd's bits
/// depend on the threads, too, in oneDNN itself and by where blocks begin: what is to be equal runs
/// on core shares of equal size.
struct Method {
  bool winograd = false;
  std::int64_t rows = 0;  ///< 0: the whole image
  auto operator<=>(const Method&) const = default;

  std::string text() const;
  static std::optional<Method> from(std::string_view text);
};

/// By which method each convolution is computed for which there are several, by the operation's
/// signature. Methods differ in the last bits, so ranks agree on them (Backend::algorithms); a
/// convolution that nobody timed is computed directly, and gives the same bits in every run.
/// Main thread only.
class Choices {
 public:
  /// {SIGNATURE: METHOD}; others replace those known. Throws InputError.
  void adopt(const Json& methods);
  Method of(const Operation& operation) const;
  /// What is known of the operation, as adopt() reads it; empty: nothing.
  Json known(const Operation& operation) const;

  /// Times the methods in turns and keeps the fastest: one of Winograd's, if it takes less than
  /// 0.95 of the direct one's time. `run` runs an operator on the binding's core share. Nothing is
  /// kept where there is one method only. The binding's inputs and output are read and written.
  void time(const Binding& binding, const std::function<void(BoundOperator&)>& run);

 private:
  std::map<std::string, Method> methods_;
};

}  // namespace hios::cpu
