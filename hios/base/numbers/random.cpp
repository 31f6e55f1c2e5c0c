#include "hios/base/numbers/random.h"

namespace hios {

Random::Random(std::uint64_t seed, std::string_view name) : state_(seed) {
  // FNV-1a of the name over a scrambled seed takes neighbouring seeds and similar names far apart.
  std::uint64_t hash = next() ^ 0xcbf29ce484222325ull;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  state_ = hash;
  state_ = next();
}

std::uint64_t Random::below(std::uint64_t bound) {
  // The 2^64 mod bound smallest values are drawn again, so that every remainder is equally likely.
  const std::uint64_t unfair = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t drawn = next();
    if (drawn >= unfair) return drawn % bound;
  }
}

}  // namespace hios
