#include "support/programs/mpi_main.h"

#include <gtest/gtest.h>

#include <array>
#include <iostream>

#include "mpi/session/session.h"

namespace hios::test {
namespace {

mpi::Transport* the_job = nullptr;

/// CTest's SKIP_RETURN_CODE of these programs (tests/CMakeLists.txt).
constexpr int kNothingTested = 77;

/// The output of ranks other than the first: failures only.
class FailurePrinter final : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::cout << "rank " << job().rank().index() << ": " << result.file_name() << ":"
              << result.line_number() << ": " << result.message() << std::endl;
  }
};

int run_tests(mpi::Transport& transport) {
  the_job = &transport;
  if (transport.rank() == Rank(0)) {
    std::cout << transport.size() << " ranks, " << transport.path() << std::endl;
  } else {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter);
  }
  const bool failed = RUN_ALL_TESTS() != 0;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  const bool tested = failed || tests.successful_test_count() > 0;
  std::array<double, 2> worst = {failed ? 1.0 : 0.0, tested ? 1.0 : 0.0};
  transport.all_reduce_max(worst);
  if (worst[0] > 0) return 1;
  return worst[1] > 0 ? 0 : kNothingTested;
}

}  // namespace

mpi::Transport& job() { return *the_job; }

}  // namespace hios::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // Caught by the session instead, which ends the job: the other ranks would wait for this one.
  GTEST_FLAG_SET(catch_exceptions, false);
  return hios::mpi::run_session(argc, argv, hios::test::run_tests);
}
