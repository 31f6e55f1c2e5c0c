#include "mpi/messages/launcher.h"

#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <string>

namespace hios::mpi {
namespace {

constexpr const char* kYieldWhenIdle = "OMPI_MCA_mpi_yield_when_idle";
// Open MPI's transports between two ranks; all but these, which open ports.
constexpr const char* kTransports = "OMPI_MCA_btl";
constexpr const char* kWithoutPorts = "^tcp,ofi";
constexpr const char* kSharedMemory = "/dev/shm";
constexpr std::uint64_t kBytesOfARank = std::uint64_t{5} << 20;  // Open MPI maps 4 MiB there

/// Returns the first of `names` that is set to a number.
std::optional<std::size_t> number(std::span<const char* const> names) {
  for (const char* name : names) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    std::size_t value = 0;
    const char* end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, value);
    if (error == std::errc() && stop == end) return value;
  }
  return std::nullopt;
}

std::size_t allowed_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&cores));
}

/// Returns true if all ranks of the job run on this host.
bool on_one_host() {
  if (const auto here = launched_local_size()) return here == launched_ranks();
  constexpr std::array kNodes = {"SLURM_STEP_NUM_NODES"};
  return number(kNodes) == 1u && std::getenv("SLURM_HET_SIZE") == nullptr;
}

/// Returns true if the ranks of this host can exchange messages by shared memory alone.
bool have_shared_memory(std::uint64_t ranks) {
  struct statvfs room {};
  return access(kSharedMemory, W_OK) == 0 && statvfs(kSharedMemory, &room) == 0 &&
         room.f_bavail * room.f_frsize / kBytesOfARank >= ranks;
}

/// Returns true if the user has settings of transports, which ours would go before.
bool chose_transports() {
  for (const char* each : {"OMPI_MCA_btl_vader_backing_directory",
                           "OMPI_MCA_btl_sm_backing_directory", "OMPI_MCA_mca_base_param_files"}) {
    if (std::getenv(each) != nullptr) return true;
  }
  const char* const home = std::getenv("HOME");
  std::ifstream settings(std::string(home ? home : "") + "/.openmpi/mca-params.conf");
  for (std::string name; settings >> std::ws && std::getline(settings, name);) {
    const std::string word = name.substr(0, name.find_first_of(" \t="));
    if (word == "btl" || word == "pml" || word.ends_with("_backing_directory")) return true;
  }
  return false;
}

}  // namespace

bool launched() {
  // A batch script of Slurm has SLURM_PROCID too; only srun's tasks have the number of their step.
  constexpr std::array kSigns = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"};
  for (const char* sign : kSigns) {
    if (std::getenv(sign) != nullptr) return true;
  }
  return launched_ranks().value_or(1) > 1;
}

std::optional<std::size_t> launched_ranks() {
  constexpr std::array kNames = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  return number(kNames);
}

std::optional<std::size_t> launched_rank() {
  constexpr std::array kNames = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
  return number(kNames);
}

std::optional<std::size_t> launched_task() {
  constexpr std::array kNames = {"SLURM_PROCID"};
  return number(kNames);
}

std::optional<std::size_t> launched_local_rank() {
  constexpr std::array kNames = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
  return number(kNames);
}

std::optional<std::size_t> launched_local_size() {
  constexpr std::array kNames = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"};
  return number(kNames);
}

bool launched_without_pmix() {
  constexpr std::array kOthers = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMIX_NAMESPACE",
                                  "OMPI_MCA_pmix"};
  for (const char* other : kOthers) {
    if (std::getenv(other) != nullptr) return false;
  }
  constexpr std::array kTasks = {"SLURM_STEP_NUM_TASKS"};
  return number(kTasks).value_or(1) > 1;
}

void report_failure_to_launcher(int exit_status) noexcept {
  constexpr std::array kNames = {"PMI_FD"};
  const auto socket = number(kNames);
  if (!socket || std::getenv("PMI_RANK") == nullptr) return;
  char line[64];
  const int size = std::snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", exit_status);
  // Write to a socket only: by now, the number could belong to another kind of file.
  [[maybe_unused]] const auto sent = send(
      static_cast<int>(*socket), line, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void let_others_connect() noexcept {
  if (!launched_rank()) return;
  const timespec pause{.tv_sec = 0, .tv_nsec = 300'000'000};
  nanosleep(&pause, nullptr);
}

bool holds_unread_bytes(int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return false;
  int bytes = 0;
  if (S_ISFIFO(status.st_mode)) return ioctl(descriptor, FIONREAD, &bytes) == 0 && bytes > 0;
  return S_ISSOCK(status.st_mode) && ioctl(descriptor, TIOCOUTQ, &bytes) == 0 && bytes > 0;
}

void let_launcher_read(std::chrono::milliseconds limit) noexcept {
  constexpr std::chrono::milliseconds kPause{1};
  const timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000};
  while (limit.count() > 0 &&
         (holds_unread_bytes(STDOUT_FILENO) || holds_unread_bytes(STDERR_FILENO))) {
    nanosleep(&pause, nullptr);
    limit -= kPause;
  }
}

void prepare_launch_environment() {
  // A bound rank sees only its own cores, and no two ranks are bound to the same core.
  const bool bound = std::getenv("OMPI_MCA_orte_bound_at_launch") != nullptr;
  if (!bound && launched_local_size().value_or(1) > allowed_cores()) {
    setenv(kYieldWhenIdle, "1", /*overwrite=*/0);
  }
  if (on_one_host() && have_shared_memory(launched_ranks().value_or(1)) && !chose_transports()) {
    setenv(kTransports, kWithoutPorts, /*overwrite=*/0);
  }
}

}  // namespace hios::mpi
