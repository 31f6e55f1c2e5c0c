// Random cuts of random networks over a real MPI; tests/engine/CMakeLists.txt runs it with every
// message a rendezvous, too, and without CMA.
#include <gtest/gtest.h>

#include "support/networks/random_cuts.h"
#include "support/programs/hang_guard.h"
#include "support/programs/mpi_main.h"
#include "support/sanitized.h"

namespace hios::test {
namespace {

TEST(CutNetworksOverMpi, RandomCutsHaveTheBitsOfTheWhole) {
  HangGuard guard;
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(tries(20)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    guard.step("seed " + std::to_string(seed));
    Random random(seed, "cut ranks over mpi");
    const Model model = random_layers(12, random);
    const Cuts cuts = random_cuts(model, random);
    expect_outputs(outputs_alone(Network(model)), cut_network(model, cuts), seed, job());
    cut += cuts.size();
  }
  EXPECT_GT(cut, static_cast<std::size_t>(tries(30)));
}

}  // namespace
}  // namespace hios::test
