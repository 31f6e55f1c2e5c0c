#include "mpi/messages/mpi_library.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpi/messages/communicator.h"

// On one host, MPI copies large messages once, directly out of the sender's memory (CMA, the system
// call process_vm_readv), or twice, through shared memory, which takes 4 to 6 times as long. The
// choice is a setting that MPI's tool interface shows after start-up, and a matter of permission:
// many containers forbid the call. So both are tested: the setting, and the call itself, once, on a
// neighbour. Open MPI 4 has the setting in its component "vader"; Open MPI 5 may have a component
// "cma" next to "sm"; MPICH has a switch. If none of them exists, messages take another way, and
// the text says no more than that.
namespace hios::mpi {
namespace {

/// MPI's tool interface, open during the lifetime of this object.
class ToolSession {
 public:
  ToolSession() {
    int provided = 0;
    open_ = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
  }
  ToolSession(const ToolSession&) = delete;
  ToolSession& operator=(const ToolSession&) = delete;
  ~ToolSession() {
    if (open_) MPI_T_finalize();
  }
  bool open() const { return open_; }

 private:
  bool open_ = false;
};

/// A control variable that is an integer or an enumeration.
struct Setting {
  int value = 0;
  std::string name;  ///< the value's name if it is one of an enumeration
};

std::string name_of(MPI_T_enum items, int value) {
  int number = 0, length = 0;
  if (MPI_T_enum_get_info(items, &number, nullptr, &length) != MPI_SUCCESS) return {};
  for (int i = 0; i < number; ++i) {
    std::array<char, 64> text{};
    int item = 0, text_length = static_cast<int>(text.size());
    if (MPI_T_enum_get_item(items, i, &item, text.data(), &text_length) != MPI_SUCCESS) continue;
    if (item == value) return text.data();
  }
  return {};
}

/// Returns the variable's setting, or no value if this MPI has no such variable, which is no error.
std::optional<Setting> setting(const char* name) {
  const ToolSession tools;
  int index = 0;
  if (!tools.open() || MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return {};

  int name_length = 0, description_length = 0, verbosity = 0, binding = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum items = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &items, nullptr,
                          &description_length, &binding, &scope) != MPI_SUCCESS ||
      type != MPI_INT) {
    return {};
  }
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int elements = 0;
  Setting found;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &elements) != MPI_SUCCESS) return {};
  const bool read = elements == 1 && MPI_T_cvar_read(handle, &found.value) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  if (!read) return {};
  if (items != MPI_T_ENUM_NULL) found.name = name_of(items, found.value);
  return found;
}

/// Returns how this MPI copies between the ranks of a host: "cma", "none" …; empty if it has no
/// shared memory that we know.
std::string single_copy_mechanism() {
  if (const auto open_mpi_4 = setting("btl_vader_single_copy_mechanism")) return open_mpi_4->name;
  if (setting("btl_sm_free_list_num")) return setting("smsc_cma_priority") ? "cma" : "none";
  if (const auto mpich = setting("MPIR_CVAR_CH4_CMA_ENABLE")) return mpich->value ? "cma" : "none";
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
  if (hosts > 1) text += ", network between " + std::to_string(hosts) + " hosts";
  std::vector<std::string> mechanisms = all_gather_text(communicator, describe_host(host));
  std::sort(mechanisms.begin(), mechanisms.end());
  mechanisms.erase(std::unique(mechanisms.begin(), mechanisms.end()), mechanisms.end());
  for (const std::string& mechanism : mechanisms) {
    if (!mechanism.empty()) text += ", " + mechanism;
  }
  return text;
}

}  // namespace hios::mpi
