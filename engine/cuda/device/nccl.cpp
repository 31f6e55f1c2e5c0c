// Types and functions of NCCL are declared as NCCL 2 documents them: all return 0 for success. The
// library stays open: it has threads of its own.
#include "engine/cuda/device/nccl.h"

#include <dlfcn.h>

#include <array>
#include <exception>
#include <utility>

#include "engine/cuda/device/device.h"
#include "engine/cuda/device/handles.h"
#include "hios/base/error.h"

#ifndef HIOS_NCCL_LIBRARY
#define HIOS_NCCL_LIBRARY "libnccl.so.2"
#endif

namespace hios::cuda {
namespace {

/// ncclUniqueId, of which NCCL takes copies.
struct NcclId {
  std::array<char, 128> internal;
};
using NcclComm = struct NcclCommOfLibrary*;
constexpr int kNcclSuccess = 0;
constexpr int kNcclInProgress = 7;
constexpr int kNcclBytes = 0;  // ncclInt8
/// From this version on, messages can be recorded.
constexpr int kOldestNccl = 21100;

/// The functions of NCCL that are used here.
struct NcclFunctions {
  int (*get_version)(int*);
  int (*get_unique_id)(NcclId*);
  int (*init_rank)(NcclComm*, int, NcclId, int);
  int (*destroy)(NcclComm);
  int (*abort)(NcclComm);
  int (*async_error)(NcclComm, int*);
  int (*send)(const void*, std::size_t, int, int, NcclComm, cudaStream_t);
  int (*receive)(void*, std::size_t, int, int, NcclComm, cudaStream_t);
  const char* (*error_text)(int);
  const char* (*last_error)(NcclComm);  ///< null before NCCL 2.13
};

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw RunError(std::string(HIOS_NCCL_LIBRARY " has no ") + name);
  }
}

NcclFunctions open_nccl() {
  void* const library = dlopen(HIOS_NCCL_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    throw RunError(printable(why != nullptr ? why : HIOS_NCCL_LIBRARY " cannot be opened", 200));
  }
  NcclFunctions found{};
  look_up(library, "ncclGetVersion", found.get_version);
  look_up(library, "ncclGetUniqueId", found.get_unique_id);
  look_up(library, "ncclCommInitRank", found.init_rank);
  look_up(library, "ncclCommDestroy", found.destroy);
  look_up(library, "ncclCommAbort", found.abort);
  look_up(library, "ncclCommGetAsyncError", found.async_error);
  look_up(library, "ncclSend", found.send);
  look_up(library, "ncclRecv", found.receive);
  look_up(library, "ncclGetErrorString", found.error_text);
  found.last_error =
      reinterpret_cast<const char* (*)(NcclComm)>(dlsym(library, "ncclGetLastError"));
  return found;
}

/// Returns NCCL. Throws RunError if it cannot be opened, at every call.
const NcclFunctions& nccl() {
  static const NcclFunctions functions = open_nccl();
  return functions;
}

void check_nccl(int status, const char* doing, NcclComm comm = nullptr) {
  if (status == kNcclSuccess) return;
  forget_last_error();
  std::string text = std::string("NCCL, ") + doing + ": " + printable(nccl().error_text(status));
  const char* const more = nccl().last_error ? nccl().last_error(comm) : nullptr;
  if (more != nullptr && *more != '\0') text += " (" + printable(more, 200) + ")";
  throw mpi::DeviceError(text);
}

/// Returns the version in words: 22803 gives "2.28.3".
std::string nccl_version_text(int version) {
  const int unit = version < 10000 ? 1000 : 10000;  // before 2.9, it was counted otherwise
  return std::to_string(version / unit) + "." + std::to_string(version % unit / 100) + "." +
         std::to_string(version % 100);
}

class NcclGroup final : public mpi::DeviceGroup {
 public:
  NcclGroup(NcclComm comm, const Streams& streams) : comm_(comm), streams_(streams) {}
  /// A clean end waits for the calls; one by an exception must not, since another member may never
  /// make its own.
  ~NcclGroup() override {
    if (std::uncaught_exceptions() > exceptions_) abandon();
    if (comm_ != nullptr) nccl().destroy(comm_);
    forget_last_error();
  }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  void send(const std::byte* from, Bytes size_bytes, std::size_t member,
            mpi::Queue queue) override {
    streams_.note_work(queue);
    check_nccl(nccl().send(from, size_bytes, kNcclBytes, static_cast<int>(member), comm(),
                           streams_.queue(queue)),
               "sending a tensor", comm_);
  }
  void receive(std::byte* to, Bytes size_bytes, std::size_t member, mpi::Queue queue) override {
    streams_.note_work(queue);
    check_nccl(nccl().receive(to, size_bytes, kNcclBytes, static_cast<int>(member), comm(),
                              streams_.queue(queue)),
               "receiving a tensor", comm_);
  }
  void check() override {
    int status = kNcclSuccess;
    check_nccl(nccl().async_error(comm(), &status), "asking for failures", comm_);
    if (status == kNcclInProgress) return;
    try {
      check_nccl(status, "moving a tensor", comm_);
    } catch (const mpi::DeviceError&) {
      abandon();
      throw;
    }
  }
  void abandon() noexcept override {
    if (comm_ != nullptr) nccl().abort(std::exchange(comm_, nullptr));
    forget_last_error();
  }

 private:
  NcclComm comm() const {
    if (comm_ == nullptr) throw mpi::DeviceError("NCCL was given up after a message got lost");
    return comm_;
  }

  NcclComm comm_;
  const Streams& streams_;
  const int exceptions_ = std::uncaught_exceptions();
};

}  // namespace

std::string nccl_version() {
  int version = 0;
  check_nccl(nccl().get_version(&version), "asking for its version");
  const std::string text = "NCCL " + nccl_version_text(version);
  if (version < kOldestNccl || version >= 30000) {
    throw RunError(text + " was found, and this build needs NCCL 2, from " +
                   nccl_version_text(kOldestNccl) + " on");
  }
  return text;
}

std::string name_nccl_group() {
  NcclId id{};
  check_nccl(nccl().get_unique_id(&id), "naming a group");
  return to_hex(id.internal.data(), id.internal.size());
}

std::unique_ptr<mpi::DeviceGroup> join_nccl_group(const std::string& name, std::size_t member,
                                                  std::size_t members, const Streams& streams) {
  NcclId id{};
  from_hex(name, id.internal.data(), id.internal.size());
  NcclComm comm = nullptr;
  check_nccl(nccl().init_rank(&comm, static_cast<int>(members), id, static_cast<int>(member)),
             "joining the GPUs");
  return std::make_unique<NcclGroup>(comm, streams);
}

}  // namespace hios::cuda
