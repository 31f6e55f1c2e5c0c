#include "mpi/messages/communicator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "support/programs/mpi_main.h"

namespace hios::test {
namespace {

TEST(MpiTransport, NamesLibraryAndPath) {
  const std::string path = job().path();
  EXPECT_TRUE(path.starts_with("Open MPI ") || path.starts_with("MPICH ")) << path;
  if (job().size() == 1) {
    EXPECT_NE(path.find("one rank"), std::string::npos) << path;
    return;
  }
  const char* mechanism = std::getenv("OMPI_MCA_btl_vader_single_copy_mechanism");
  if (mechanism != nullptr && std::string(mechanism) == "none") {
    EXPECT_TRUE(path.ends_with("shared memory without CMA")) << path;
  } else {
    EXPECT_NE(path.find("CMA"), std::string::npos) << path;
  }
}

TEST(MpiTransport, KnowsTheRanksOfItsHost) {
  // mpirun of hios_mpi_test starts all ranks on this host.
  EXPECT_EQ(job().local_rank(), job().rank().index());
  EXPECT_EQ(job().local_size(), job().size());
}

TEST(UniqueHandle, GivesAwayWhatItOwns) {
  mpi::UniqueCommunicator first = mpi::duplicate(MPI_COMM_WORLD);
  const MPI_Comm handle = first.get();
  mpi::UniqueCommunicator second = std::move(first);
  EXPECT_EQ(first.get(), MPI_COMM_NULL);
  EXPECT_EQ(second.get(), handle);
  second.close();
  EXPECT_EQ(second.get(), MPI_COMM_NULL);
  second.close();  // nothing left to release
}

}  // namespace
}  // namespace hios::test
