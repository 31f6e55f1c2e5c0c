#include "cli/provenance.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "hios/base/error.h"
#include "mpi/exchange.h"

namespace hios::cli {
namespace {

constexpr std::array kPrefixes = {"OMP_",      "GOMP_",     "KMP_",      "DNNL_",  "ONEDNN_",
                                  "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPICH_", "I_MPI_",
                                  "UCX_",      "MALLOC_",   "CUDA_MPS_", "CUDNN_", "CUBLAS_",
                                  "NCCL_",     "HIOS_",     "MPIR_CVAR_"};
constexpr std::array kNames = {"CUDA_VISIBLE_DEVICES",
                               "CUDA_DEVICE_ORDER",
                               "CUDA_LAUNCH_BLOCKING",
                               "CUDA_MODULE_LOADING",
                               "CUDA_DEVICE_MAX_CONNECTIONS",
                               "CUDA_AUTO_BOOST",
                               "GLIBC_TUNABLES",
                               "NVIDIA_TF32_OVERRIDE",
                               "LD_PRELOAD",
                               "SLURM_JOB_ID",
                               "SLURM_JOB_NODELIST",
                               "SLURM_CPUS_PER_TASK",
                               "SLURM_CPU_BIND_TYPE",
                               "PBS_JOBID",
                               "LSB_JOBID"};
/// Variables by which the launcher and its ranks find each other, and the arguments of a job
/// script; their values differ each time.
constexpr std::array kOfLauncher = {"HIOS_BATCH_ARGUMENTS",
                                    "HIOS_SCRIPTS",
                                    "OMPI_MCA_orte_",
                                    "OMPI_MCA_ess",
                                    "OMPI_MCA_pmix",
                                    "OMPI_MCA_initial_wdir",
                                    "OMPI_MCA_shmem_RUNTIME",
                                    "OMPI_MCA_hwloc_base_binding_policy"};

/// Returns this process's variables on which times depend, printable.
Json own_environment() {
  constexpr std::size_t kMostCharacters = 300;
  Json environment = Json::object();
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || !matters_for_times(text.substr(0, equals))) continue;
    environment[printable(text.substr(0, equals))] =
        printable(text.substr(equals + 1), kMostCharacters);
  }
  return environment;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = "";
  if (gmtime_r(&now, &parts)) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

bool matters_for_times(std::string_view name) {
  const auto begins = [&](const char* prefix) { return name.starts_with(prefix); };
  if (std::any_of(kOfLauncher.begin(), kOfLauncher.end(), begins)) return false;
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), begins) ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Json joint_environment(const std::vector<Json>& by_rank) {
  std::set<std::string> names;
  for (const Json& rank : by_rank) {
    for (const auto& [name, value] : rank.items()) names.insert(name);
  }
  Json joint = Json::object();
  for (const std::string& name : names) {
    Json values = Json::array();
    for (const Json& rank : by_rank) values.push_back(rank.value(name, Json()));
    const bool alike = std::all_of(values.begin(), values.end(),
                                   [&](const Json& value) { return value == values.front(); });
    joint[name] = alike ? values.front() : values;
  }
  return joint;
}

Provenance gather_provenance(mpi::Transport& transport) {
  return {transport.broadcast(utc_now()),
          joint_environment(mpi::gather(transport, own_environment()))};
}

}  // namespace hios::cli
