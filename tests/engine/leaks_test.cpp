// The address sanitizer looks for leaks at the end of every test program whose ranks are threads.
// Containers may forbid the system call for that, so this test gives it a leak to find. Compiled
// for that sanitizer only.

#include <gtest/gtest.h>
#include <sanitizer/lsan_interface.h>

#include <cstdlib>

namespace hios {
namespace {

void* volatile held = nullptr;

int exit_status_with_a_leak() {
  held = std::malloc(4711);
  held = nullptr;
  return __lsan_do_recoverable_leak_check() != 0 ? 7 : 0;
}

TEST(Leaks, AreFound) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(exit_status_with_a_leak()), testing::ExitedWithCode(7),
              "detected memory leaks");
}

}  // namespace
}  // namespace hios
