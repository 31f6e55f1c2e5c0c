// Types and functions of NCCL are declared as NCCL 2 documents them: all return 0 for success. The
// library stays open: it has threads of its own.
//
// From version 2.14 on, a member can be made without blocking: calls that wait for other members
// (joining, the first message to one, the end) go on in a thread of NCCL's and return "in
// progress", and any other call may. They are asked for their results until the patience ends, and
// until then no other call is made. So a member that never comes costs the patience, not the job.
//
// Ending a member waits for each CUDA graph that has recorded one of its messages, and the end of a
// failed job waits for GPUs that wait for messages. So the graphs are destroyed first (StepLoop::
// rethrow), which CUDA does at the end of one that runs; then the member is ended by a thread,
// which is not waited for longer than kEndLimit.
#include "engine/cuda/device/nccl.h"

#include <dlfcn.h>

#include <array>
#include <exception>
#include <future>
#include <thread>
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
/// From this version on, members can be made without blocking.
constexpr int kFirstWithoutBlocking = 21400;

/// ncclConfig_t of version 2.14. Later versions take the rest of theirs from the version in it.
struct NcclConfig {
  std::size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = kFirstWithoutBlocking;
  int blocking = 0;
};

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
  // Null before kFirstWithoutBlocking.
  int (*init_rank_config)(NcclComm*, int, NcclId, int, NcclConfig*);
  int (*finalize)(NcclComm);
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
  int version = 0;
  if (found.get_version(&version) == kNcclSuccess && version >= kFirstWithoutBlocking) {
    look_up(library, "ncclCommInitRankConfig", found.init_rank_config);
    look_up(library, "ncclCommFinalize", found.finalize);
  }
  return found;
}

/// Returns NCCL. Throws RunError if it cannot be opened, at every call.
const NcclFunctions& nccl() {
  static const NcclFunctions functions = open_nccl();
  return functions;
}

/// The time between two questions about a call that goes on; counted, so that no clock is needed.
constexpr std::chrono::milliseconds kNcclPause{1};

/// The questions before the first pause: most calls only queue work and end within microseconds, so
/// that a pause would be most of a message's time.
constexpr int kQuestionsWithoutPause = 500;

/// Waits for the result of a call that returned `status`. kNcclInProgress: the patience has ended.
int result_of(int status, NcclComm comm, std::chrono::milliseconds patience) {
  auto left = patience;
  for (int asked = 0; status == kNcclInProgress && comm != nullptr; ++asked) {
    if (asked < kQuestionsWithoutPause) {
      std::this_thread::yield();
    } else if (left.count() > 0) {
      std::this_thread::sleep_for(kNcclPause);
      left -= kNcclPause;
    } else {
      break;
    }
    if (const int error = nccl().async_error(comm, &status); error != kNcclSuccess) return error;
  }
  return status;
}

/// The longest wait for the end of a member that is given up.
constexpr std::chrono::seconds kEndLimit{5};

/// Ends a member whose calls may never return; returns false if that takes longer than the limit.
bool end_by_force(NcclComm comm) noexcept {
  try {
    auto ended = std::make_shared<std::promise<void>>();
    const std::future<void> end = ended->get_future();
    std::thread([comm, ended] {
      nccl().abort(comm);
      ended->set_value();
    }).detach();
    return end.wait_for(kEndLimit) == std::future_status::ready;
  } catch (const std::exception&) {
    return false;  // no thread, or no memory for one
  }
}

void check_nccl(int status, const char* doing, NcclComm comm = nullptr) {
  if (status == kNcclSuccess) return;
  forget_last_error();
  if (status == kNcclInProgress) {
    throw mpi::DeviceError(std::string("NCCL, ") + doing + ": it waits for another rank too long");
  }
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
  NcclGroup(NcclComm comm, const Streams& streams, std::chrono::milliseconds patience)
      : comm_(comm), streams_(streams), patience_(patience) {}
  /// A clean end waits for the calls; one by an exception must not, since another member may never
  /// make its own.
  ~NcclGroup() override {
    if (std::uncaught_exceptions() > exceptions_) abandon();
    if (comm_ != nullptr && nccl().finalize != nullptr &&
        result_of(nccl().finalize(comm_), comm_, patience_) != kNcclSuccess) {
      abandon();
    }
    if (comm_ != nullptr) nccl().destroy(comm_);
    forget_last_error();
  }
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  void send(const std::byte* from, Bytes size_bytes, std::size_t member,
            mpi::Queue queue) override {
    streams_.note_work(queue);
    finish(nccl().send(from, size_bytes, kNcclBytes, static_cast<int>(member), comm(),
                       streams_.queue(queue)),
           "sending a tensor");
  }
  void receive(std::byte* to, Bytes size_bytes, std::size_t member, mpi::Queue queue) override {
    streams_.note_work(queue);
    finish(nccl().receive(to, size_bytes, kNcclBytes, static_cast<int>(member), comm(),
                          streams_.queue(queue)),
           "receiving a tensor");
  }
  /// Waits for the end of a call of the library that returned `status`, and throws if it failed.
  void finish(int status, const char* doing) const {
    check_nccl(result_of(status, comm_, patience_), doing, comm_);
  }
  void check() override {
    int status = kNcclSuccess;
    check_nccl(nccl().async_error(comm(), &status), "asking for failures", comm_);
    if (status != kNcclInProgress) check_nccl(status, "moving a tensor", comm_);
  }
  bool abandon() noexcept override {
    const bool ended = comm_ == nullptr || end_by_force(std::exchange(comm_, nullptr));
    forget_last_error();
    return ended;
  }

 private:
  NcclComm comm() const {
    if (comm_ == nullptr) throw mpi::DeviceError("NCCL was given up after a message got lost");
    return comm_;
  }

  NcclComm comm_;
  const Streams& streams_;
  const std::chrono::milliseconds patience_;
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
                                                  std::size_t members, const Streams& streams,
                                                  std::chrono::milliseconds patience) {
  NcclId id{};
  from_hex(name, id.internal.data(), id.internal.size());
  const NcclFunctions& functions = nccl();
  const int ranks = static_cast<int>(members), rank = static_cast<int>(member);
  NcclComm comm = nullptr;
  NcclConfig config;
  const int status = functions.init_rank_config != nullptr
                         ? functions.init_rank_config(&comm, ranks, id, rank, &config)
                         : functions.init_rank(&comm, ranks, id, rank);
  // From here on the group ends what was started.
  auto group = std::make_unique<NcclGroup>(comm, streams, patience);
  group->finish(status, "joining the GPUs");
  return group;
}

}  // namespace hios::cuda
