// libFuzzer's entry point for one of the checks, which the build names.

#include <cstddef>
#include <cstdint>

#include "fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return hios::test::HIOS_FUZZ_CHECK({reinterpret_cast<const char*>(data), size});
}
