#include "hios/base/digest.h"

#include <array>

namespace hios {
namespace {

// The 64-bit FNV prime, and an unrelated odd constant for the second lane: lanes that differ only
// in their offset would collide together.
constexpr std::uint64_t kPrimeA = 0x100000001b3ull;
constexpr std::uint64_t kPrimeB = 0x9e3779b97f4a7c15ull;

void append_hex(std::string& text, std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(value >> shift) & 0xf];
}

}  // namespace

void Digest::mix(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) {
    a_ = (a_ ^ bytes[i]) * kPrimeA;
    b_ = (b_ ^ bytes[i]) * kPrimeB;
    b_ ^= b_ >> 29;
  }
}

Digest& Digest::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  mix(text.data(), text.size());
  return *this;
}

Digest& Digest::add(std::uint64_t number) {
  // Little-endian by hand: the digest of a graph is the same on every machine.
  std::array<unsigned char, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(number >> (8 * i));
  }
  mix(bytes.data(), bytes.size());
  return *this;
}

std::string Digest::hex() const {
  std::string text;
  text.reserve(32);
  append_hex(text, a_);
  append_hex(text, b_);
  return text;
}

}  // namespace hios
