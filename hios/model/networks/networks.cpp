#include "hios/model/networks/networks.h"

#include <algorithm>
#include <array>

namespace hios::models {
namespace {

constexpr std::array kEntries = {
    Entry{"inception_v3", "Inception-v3: branches of convolutions, concatenated", 299,
          inception_v3},
    Entry{"nasnet_large", "NASNet-A large: cells of separable convolutions, found by search", 331,
          nasnet_large},
    Entry{"squeezenet", "SqueezeNet with complex bypass: fire modules", 224, squeezenet},
    Entry{"randwire_large", "RandWire large: stages wired at random", 224, randwire_large},
};

}  // namespace

std::span<const Entry> all() { return kEntries; }

const Entry* find(std::string_view name) {
  const auto at = std::find_if(kEntries.begin(), kEntries.end(),
                               [&](const Entry& entry) { return entry.name == name; });
  return at == kEntries.end() ? nullptr : &*at;
}

}  // namespace hios::models
