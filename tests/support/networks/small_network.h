#pragma once

#include <cstdint>
#include <string_view>

namespace hios::test {

/// A built-in network and the size of its input, smaller than its own.
struct SmallNetwork {
  std::string_view name;
  std::int64_t size;  ///< height and width
};

}  // namespace hios::test
