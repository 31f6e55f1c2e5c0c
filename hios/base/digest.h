#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hios {

/// A 128-bit fingerprint that distinguishes files, graphs and builds (two FNV-1a lanes; not
/// cryptographic). Fields are length-prefixed, so ("ab","c") and ("a","bc") differ.
class Digest {
 public:
  Digest& add(std::string_view text);
  Digest& add(std::uint64_t number);
  std::string hex() const;  ///< 32 hexadecimal digits

 private:
  void mix(const void* data, std::size_t size);
  std::uint64_t a_ = 0xcbf29ce484222325ull;
  std::uint64_t b_ = 0x84222325cbf29ce4ull;
};

}  // namespace hios
