// Many inferences in flight over a real MPI; tests/engine/CMakeLists.txt runs it with every message
// a rendezvous, too, and without CMA.
#include <gtest/gtest.h>

#include "support/networks/inferences_as_alone.h"
#include "support/programs/hang_guard.h"
#include "support/programs/mpi_main.h"
#include "support/sanitized.h"

namespace hios {
namespace {

constexpr std::uint64_t kSchedules = test::tries(60);

TEST(PipelineOverMpi, RandomSchedulesGiveForEveryInputWhatOneOperatorAtATimeGives) {
  test::HangGuard guard;
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    guard.step("seed " + std::to_string(seed));
    const test::RandomNetwork network = test::network_with_read_outputs(3 + seed % 25, seed);
    const std::size_t in_flight = 1 + seed % 8;
    const Schedule schedule =
        test::random_schedule(network.coarse.graph, test::job().size(), 1 + seed % 3, seed);
    const test::Expected expected = test::inputs_alone(network, in_flight + 1);
    test::FakeBackend backend(2, seed);
    test::expect_inferences_as_alone(test::job(), network, schedule, backend, in_flight, expected);
  }
}

}  // namespace
}  // namespace hios
