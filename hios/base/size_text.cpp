#include "hios/base/size_text.h"

#include <cstdio>

namespace hios {

std::string size_text(Bytes size_bytes) {
  constexpr Bytes kMebi = Bytes{1} << 20, kGibi = Bytes{1} << 30;
  if (size_bytes < kMebi) return std::to_string(size_bytes) + " bytes";
  const bool large = size_bytes >= kGibi;
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %s",
                static_cast<double>(size_bytes) / static_cast<double>(large ? kGibi : kMebi),
                large ? "GiB" : "MiB");
  return text;
}

}  // namespace hios
