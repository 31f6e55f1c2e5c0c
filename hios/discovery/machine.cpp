#include "hios/discovery/machine.h"

#include <array>
#include <cstdio>

namespace hios::discovery {

std::string pci_address(unsigned domain, unsigned bus, unsigned device, unsigned function) {
  std::array<char, 48> text{};
  if (domain == 0) {
    std::snprintf(text.data(), text.size(), "%02x:%02x.%x", bus, device, function);
  } else {
    std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", domain, bus, device, function);
  }
  return text.data();
}

}  // namespace hios::discovery
