// The question whether an MPI takes device memory, put to a fake one by the calls of MPICH, Cray
// and Open MPI: any of them may know.
#include <gtest/gtest.h>

#include "support/programs/process.h"

namespace hios::test {
namespace {

/// Returns the exit status of the probe that was built for these calls.
int probe(const char* program, const char* status, const char* value, const char* cuda) {
  return run_process({program, status, value, cuda}).exit_status;
}

TEST(GpuSupport, IsAskedByTheCallOfMpichAndCray) {
  EXPECT_EQ(probe(HIOS_GPU_QUERY_PROBE, "0", "1", "0"), 0);
  EXPECT_EQ(probe(HIOS_GPU_QUERY_PROBE, "0", "0", "1"), 1) << "this build has not the other call";
  EXPECT_EQ(probe(HIOS_GPU_QUERY_PROBE, "1", "1", "0"), 1) << "the call failed";
}

TEST(GpuSupport, IsAskedByTheCallOfOpenMpi) {
  EXPECT_EQ(probe(HIOS_CUDA_QUERY_PROBE, "0", "1", "1"), 0);
  EXPECT_EQ(probe(HIOS_CUDA_QUERY_PROBE, "0", "1", "0"), 1) << "this build has not the other call";
}

TEST(GpuSupport, IsAskedByBothCallsWhereThereAreBoth) {
  EXPECT_EQ(probe(HIOS_BOTH_QUERIES_PROBE, "0", "0", "0"), 1);
  EXPECT_EQ(probe(HIOS_BOTH_QUERIES_PROBE, "0", "0", "1"), 0);
  EXPECT_EQ(probe(HIOS_BOTH_QUERIES_PROBE, "0", "1", "0"), 0);
}

TEST(GpuSupport, IsNoneWithoutACall) { EXPECT_EQ(probe(HIOS_NO_QUERY_PROBE, "0", "1", "1"), 1); }

}  // namespace
}  // namespace hios::test
