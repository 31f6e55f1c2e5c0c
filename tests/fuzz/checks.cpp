#include "fuzz/checks.h"

#include <array>

namespace hios::test {

std::span<const FuzzCheck> fuzz_checks() {
  static constexpr std::array kChecks = {
      FuzzCheck{"graph", check_graph},     FuzzCheck{"platform", check_platform},
      FuzzCheck{"model", check_model},     FuzzCheck{"fusion", check_fusion},
      FuzzCheck{"profile", check_profile}, FuzzCheck{"schedule", check_schedule},
      FuzzCheck{"flight", check_flight},
#ifdef HIOS_HAVE_ONNX
      FuzzCheck{"onnx", check_onnx},
#endif
      FuzzCheck{"words", check_words}};
  return kChecks;
}

}  // namespace hios::test
