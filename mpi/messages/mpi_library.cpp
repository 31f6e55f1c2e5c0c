#include "mpi/messages/mpi_library.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/messages/communicator.h"
#include "mpi/messages/mpi_settings.h"
#include "mpi/messages/network_path.h"

// On one host, MPI copies large messages once, directly out of the sender's memory (CMA, the system
// call process_vm_readv), or twice, through shared memory, which takes 4 to 6 times as long. The
// choice is a setting that MPI's tool interface shows after start-up, and a matter of permission:
// many containers forbid the call. So both are tested: the setting, and the call itself, once, on a
// neighbour. Open MPI 4 has the setting in its component "vader"; Open MPI 5 may have a component
// "cma" next to "sm"; MPICH has a switch. If none of them exists, messages take another way, and
// the text says no more than that.
namespace hios::mpi {
namespace {

/// Returns how this MPI copies between the ranks of a host: "cma", "none" …; empty if it has no
/// shared memory that we know.
std::string single_copy_mechanism() {
  if (const auto open_mpi_4 = mpi_setting("btl_vader_single_copy_mechanism"))
    return open_mpi_4->name;
  if (mpi_setting("btl_sm_free_list_num")) return mpi_setting("smsc_cma_priority") ? "cma" : "none";
  if (const auto mpich = mpi_setting("MPIR_CVAR_CH4_CMA_ENABLE"))
    return mpich->value ? "cma" : "none";
  return {};
}

/// Returns true if this rank may read its neighbour's memory. Collective over the host.
bool reads_neighbour(MPI_Comm host) {
  int rank = 0, size = 0;
  HIOS_MPI(MPI_Comm_rank(host, &rank));
  HIOS_MPI(MPI_Comm_size(host, &size));
  struct Sample {
    std::int64_t process;
    std::uint64_t address;
    std::uint64_t value;
  };
  static std::uint64_t sample = 0;
  sample = 0x9e3779b97f4a7c15u * static_cast<std::uint64_t>(rank + 1);
  const Sample mine = {getpid(), reinterpret_cast<std::uint64_t>(&sample), sample};
  std::vector<Sample> all(static_cast<std::size_t>(size));
  HIOS_MPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, host));

  const Sample& next = all[static_cast<std::size_t>((rank + 1) % size)];
  std::uint64_t seen = 0;
  iovec here = {&seen, sizeof seen};
  iovec there = {reinterpret_cast<void*>(next.address), sizeof seen};
  const ssize_t got =
      process_vm_readv(static_cast<pid_t>(next.process), &here, 1, &there, 1, /*flags=*/0);
  const int mine_worked = got == static_cast<ssize_t>(sizeof seen) && seen == next.value;
  int all_worked = 0;
  HIOS_MPI(MPI_Allreduce(&mine_worked, &all_worked, 1, MPI_INT, MPI_LAND, host));
  return all_worked != 0;
}

/// Describes how the ranks of this host reach each other; empty for a rank that is alone there.
std::string describe_host(MPI_Comm host) {
  int size = 0;
  HIOS_MPI(MPI_Comm_size(host, &size));
  if (size == 1) return {};
  const bool readable = reads_neighbour(host);
  const std::string mechanism = single_copy_mechanism();
  if (mechanism.empty()) return "no shared memory of this MPI's own that we know";
  if (mechanism == "cma") {
    return readable ? "shared memory with CMA"
                    : "shared memory without CMA (process_vm_readv is not permitted here)";
  }
  if (mechanism == "none" || mechanism == "emulated") return "shared memory without CMA";
  return "shared memory with " + mechanism;
}

/// Shortens the library's own description: "Open MPI v4.1.4, package: …" → "Open MPI 4.1.4"; "MPICH
/// Version:      5.0.2\n…" → "MPICH 5.0.2".
std::string library_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  HIOS_MPI(MPI_Get_library_version(text.data(), &length));
  std::string name(text.data(), static_cast<std::size_t>(length));
  name.erase(std::min(name.find_first_of(",\n"), name.size()));
  if (const std::size_t v = name.rfind(" v"); v != std::string::npos) name.erase(v + 1, 1);
  if (const std::size_t word = name.find(" Version:"); word != std::string::npos) {
    name.erase(word + 1, name.find_first_not_of(' ', name.find(':') + 1) - word - 1);
  }
  return name;
}

}  // namespace

std::string describe_mpi_library(MPI_Comm communicator, MPI_Comm host) {
  int ranks = 0, host_rank = 0, hosts = 0;
  HIOS_MPI(MPI_Comm_size(communicator, &ranks));
  HIOS_MPI(MPI_Comm_rank(host, &host_rank));
  const int first_of_host = host_rank == 0;
  HIOS_MPI(MPI_Allreduce(&first_of_host, &hosts, 1, MPI_INT, MPI_SUM, communicator));

  std::string text = library_name();
  if (ranks == 1) return text + ", one rank";
  if (hosts > 1) {
    text += ", network between " + std::to_string(hosts) + " hosts";
    const std::string network = describe_network(communicator, first_of_host);
    if (!network.empty()) text += " (" + network + ")";
  }
  std::vector<std::string> mechanisms = all_gather_text(communicator, describe_host(host));
  std::sort(mechanisms.begin(), mechanisms.end());
  mechanisms.erase(std::unique(mechanisms.begin(), mechanisms.end()), mechanisms.end());
  for (const std::string& mechanism : mechanisms) {
    if (!mechanism.empty()) text += ", " + mechanism;
  }
  return text;
}

}  // namespace hios::mpi
