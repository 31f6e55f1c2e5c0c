#include "cli/provenance.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "hios/base/json/json_text.h"
#include "mpi/messages/serial.h"

namespace hios::cli {
namespace {

TEST(Provenance, RecordsTheFactsThatTimesDependOn) {
  for (const char* name :
       {"OMP_NUM_THREADS", "GOMP_SPINCOUNT", "KMP_AFFINITY", "DNNL_VERBOSE", "ONEDNN_MAX_CPU_ISA",
        "OMPI_MCA_btl", "PMIX_MCA_gds", "MPICH_ASYNC_PROGRESS", "MPIR_CVAR_CH4_CMA_ENABLE",
        "MALLOC_ARENA_MAX", "GLIBC_TUNABLES", "CUDA_VISIBLE_DEVICES", "CUDNN_LOGLEVEL_DBG",
        "NVIDIA_TF32_OVERRIDE", "SLURM_JOB_ID"})
    EXPECT_TRUE(matters_for_times(name)) << name;
  for (const char* name :
       {"PATH", "HOME", "SLURM_PROCID", "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_ess_base_vpid",
        "AWS_SECRET_ACCESS_KEY", "HIOS_BATCH_ARGUMENTS", "HIOS_SCRIPTS", "OMPI_COMM_WORLD_RANK", ""})
    EXPECT_FALSE(matters_for_times(name)) << name;
}

TEST(Provenance, RecordsEqualFactsOfRanksOnce) {
  const Json joint =
      joint_environment({{{"A", "1"}, {"B", "x"}}, {{"A", "1"}, {"B", "y"}, {"C", "z"}}});
  EXPECT_EQ(joint.dump(), R"({"A":"1","B":["x","y"],"C":[null,"z"]})");
}

TEST(Provenance, HasADateAndTheEnvironment) {
  setenv("OMP_HIOS_TEST", "a\xff\nb", 1);
  const auto transport = mpi::make_serial_transport();
  const Provenance provenance = gather_provenance(*transport);
  unsetenv("OMP_HIOS_TEST");
  EXPECT_EQ(provenance.date.size(), std::string("2024-06-11T09:30:00Z").size());
  EXPECT_EQ(provenance.date.back(), 'Z');
  const std::string said = provenance.environment->at("OMP_HIOS_TEST");
  EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  EXPECT_NO_THROW(to_text(provenance.environment));
}

}  // namespace
}  // namespace hios::cli
