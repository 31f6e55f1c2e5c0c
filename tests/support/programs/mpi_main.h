#pragma once

#include "mpi/transport.h"

namespace hios::test {

/// The ranks of this test program, which hios_mpi_test (tests/CMakeLists.txt) runs under mpirun.
/// All ranks run the same tests in the same order. An exception ends the job; a failed EXPECT fails
/// it. No ASSERT between two calls in which ranks meet: the others would wait. Where every test was
/// skipped the program ends with status 77, which is not 0: nothing was tested.
mpi::Transport& job();

}  // namespace hios::test
