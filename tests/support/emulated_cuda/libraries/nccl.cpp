// NCCL over memory that the ranks of a host share: a library of its own, which the backend opens at
// run time. Its queues and checks are those of the emulated runtime in the program that opens it.
//
// A message goes through a buffer of its pair of members, one piece after another. Each side's work
// waits until the other has done its part, as NCCL's kernels do; so members that make their calls
// in different orders wait forever. A message must be recorded on both sides or on neither: where
// its sides differ, the receiving GPU fails. As NCCL, it refuses two members on one GPU; and where
// a piece is lost (the setting nccl_lost), the kernels wait on, while the library tells those who
// ask. ncclCommDestroy waits for all that was queued, ncclCommAbort ends it. Both wait until each
// graph that recorded a message has been destroyed, and has ended if it runs.
//
// A member that was made without blocking does in ncclCommGetAsyncError what NCCL does in a thread:
// it joins, queues the first message to and from another member, and ends; all other messages as
// well where the order is late, half of them where it is random. Until then no other call is
// allowed.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "support/emulated_cuda/runtime/device.h"
#include "support/emulated_cuda/runtime/machine.h"
#include "support/emulated_cuda/runtime/memory.h"
#include "support/emulated_cuda/runtime/streams.h"

namespace hios::cuda_emulation {
namespace {

constexpr int kMostMembers = 8;
// Bytes of the messages by which a route is tried, which have a name of their own.
constexpr std::size_t kSmallProbe = 4096, kLargeProbe = std::size_t{1} << 20;
constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr std::chrono::seconds kJoinLimit{60};

enum Result {
  kSuccess = 0,
  kCudaError = 1,
  kSystemError = 2,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7
};

/// ncclConfig_t of version 2.14.
struct Config {
  std::size_t size;
  unsigned magic, version;
  int blocking;
};

/// The way from one member to another.
struct Way {
  std::atomic<std::uint64_t> sent, taken;  ///< pieces
  std::size_t size_bytes;                  ///< of the piece in the buffer
  bool recorded;                           ///< a graph sent it
  std::array<std::byte, kPiece> buffer;
};

/// The members' shared memory; all zeros at first.
struct Shared {
  std::atomic<int> joined;
  std::array<std::atomic<int>, kMostMembers> gpus;
  std::array<std::array<Way, kMostMembers>, kMostMembers> ways;
};

}  // namespace

/// The target of ncclComm_t.
struct Member {
  std::shared_ptr<Shared> shared;
  std::string name;
  int rank = 0, members = 0;
  bool blocking = true, joined = false;
  std::set<std::pair<bool, int>> connected = {};  ///< sends or not, and the other member
  /// The call that has not ended, where the member does not block. kInProgress: not yet.
  std::function<Result(std::unique_lock<std::mutex>&)> call = {};
  std::shared_ptr<std::atomic<bool>> aborted = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<std::atomic<bool>> lost = std::make_shared<std::atomic<bool>>(false);
  /// Recorded work has copies.
  std::shared_ptr<int> recorded = std::make_shared<int>();
};

namespace {

std::shared_ptr<Shared> open_shared(const char* name, int flags) {
  const int file = shm_open(name, O_RDWR | flags, 0600);
  if (file < 0) return nullptr;
  void* const memory =
      ftruncate(file, sizeof(Shared)) == 0
          ? mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
          : MAP_FAILED;
  close(file);
  if (memory == MAP_FAILED) return nullptr;
  return {static_cast<Shared*>(memory), [](Shared* one) { munmap(one, sizeof(Shared)); }};
}

bool all_joined(const Shared& shared, int members) {
  const auto end = std::chrono::steady_clock::now() + kJoinLimit;
  while (shared.joined < members) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Queues work that runs once the other member has done its part, or the group was aborted.
cudaError_t queue_piece(cudaStream_t stream, const char* name, const Member& member,
                        std::function<bool()> may_run, std::function<void()> run) {
  Work work{name, [run = std::move(run), aborted = member.aborted] {
              if (!*aborted) run();
            }};
  work.may_run = [may_run = std::move(may_run), aborted = member.aborted] {
    return *aborted || may_run();
  };
  if (is_capturing(stream)) work.holds = member.recorded;
  return enqueue(stream, std::move(work));
}

/// Returns true, and ends the recording, if the stream is recorded and that is not to be.
bool refuses_recording(cudaStream_t stream) {
  if (settings().nccl_records || !is_capturing(stream)) return false;
  invalidate(stream);
  return true;
}

cudaError_t queue_send(const std::byte* from, std::size_t size_bytes, Way& way,
                       const Member& member, cudaStream_t stream) {
  const std::shared_ptr<Shared> shared = member.shared;
  const bool recorded = is_capturing(stream);
  cudaError_t status = cudaSuccess;
  for (std::size_t at = 0; at < size_bytes && status == cudaSuccess; at += kPiece) {
    const std::size_t piece = std::min(kPiece, size_bytes - at);
    status = queue_piece(
        stream, "nccl send", member, [shared, &way] { return way.taken == way.sent; },
        [shared, &way, from, at, piece, recorded] {
          require_on_device(from + at, piece, 1);
          std::memcpy(way.buffer.data(), from + at, piece);
          way.size_bytes = piece;
          way.recorded = recorded;
          ++way.sent;
        });
  }
  if (status != cudaSuccess) return status;
  return queue_piece(
      stream, "nccl sent", member, [shared, &way] { return way.taken == way.sent; }, [] {});
}

/// The pieces of tensors that this process has received.
std::atomic<int> received_pieces = 0;

/// Returns true if the next piece is the one that gets lost.
bool loses_piece(bool probe) {
  return !probe && settings().nccl_lost > 0 && received_pieces + 1 >= settings().nccl_lost;
}

cudaError_t queue_receive(std::byte* to, std::size_t size_bytes, Way& way, const Member& member,
                          cudaStream_t stream) {
  const std::shared_ptr<Shared> shared = member.shared;
  const bool probe = size_bytes <= kSmallProbe || size_bytes == kLargeProbe;
  const bool recorded = is_capturing(stream);
  cudaError_t status = cudaSuccess;
  for (std::size_t at = 0; at < size_bytes && status == cudaSuccess; at += kPiece) {
    const std::size_t piece = std::min(kPiece, size_bytes - at);
    status = queue_piece(
        stream, probe ? "nccl receive probe" : "nccl receive", member,
        [shared, &way, probe, lost = member.lost] {
          if (way.sent <= way.taken) return false;
          if (loses_piece(probe)) *lost = true;
          return !*lost;
        },
        [shared, &way, to, at, piece, probe, recorded] {
          if (way.size_bytes != piece || way.recorded != recorded) {
            throw Fault{cudaErrorIllegalAddress};
          }
          require_on_device(to + at, piece, 1);
          std::memcpy(to + at, way.buffer.data(), piece);
          ++way.taken;
          received_pieces += !probe;
        });
  }
  return status;
}

/// Makes a member that has not joined the others; null: there is no such group.
std::unique_ptr<Member> begin_joining(int members, const char* name, int rank) {
  if (members > kMostMembers) return nullptr;
  auto made = std::make_unique<Member>();
  made->shared = open_shared(name, 0);
  if (!made->shared) return nullptr;
  made->name = name;
  made->rank = rank;
  made->members = members;
  made->shared->gpus[static_cast<std::size_t>(rank)] = current_gpu();
  ++made->shared->joined;
  return made;
}

/// Ends the joining of a member whose others have come.
Result end_joining(Member& member) {
  member.joined = true;
  if (member.rank == 0) shm_unlink(member.name.c_str());
  std::set<int> gpus;
  for (int one = 0; one < member.members; ++one) {
    if (!gpus.insert(member.shared->gpus[static_cast<std::size_t>(one)]).second) {
      return kInvalidUsage;
    }
  }
  return kSuccess;
}

/// Queues a message, or begins to: the first between two members connects them, and any other may
/// take as long.
int message(Member& member, bool sends, int peer, cudaStream_t stream,
            const std::function<cudaError_t()>& queue) {
  const std::unique_lock held(Device::get().lock());
  if (member.call) return kInvalidArgument;
  if (refuses_recording(stream)) return kCudaError;
  const auto run = [queue] { return queue() == cudaSuccess ? kSuccess : kCudaError; };
  const bool connects = member.connected.emplace(sends, peer).second;
  const bool takes_time = connects || settings().order == Order::kLate ||
                          (settings().order == Order::kRandom && next_random(2) == 0);
  if (member.blocking || !takes_time) return run();
  member.call = [run](std::unique_lock<std::mutex>&) { return run(); };
  return kInProgress;
}

}  // namespace
}  // namespace hios::cuda_emulation

using namespace hios::cuda_emulation;

extern "C" {

struct ncclUniqueId {
  char internal[128];
};

int ncclGetVersion(int* version) {
  *version = settings().nccl;
  return kSuccess;
}

int ncclGetUniqueId(ncclUniqueId* id) {
  static int made = 0;
  std::snprintf(id->internal, sizeof(id->internal), "/hios-nccl-%d-%d", getpid(), made++);
  return open_shared(id->internal, O_CREAT | O_EXCL) ? kSuccess : kSystemError;
}

int ncclCommInitRank(Member** comm, int members, ncclUniqueId id, int rank) {
  auto made = begin_joining(members, id.internal, rank);
  if (!made) return members > kMostMembers ? kInvalidArgument : kSystemError;
  if (!all_joined(*made->shared, members)) return kSystemError;
  const Result result = end_joining(*made);
  if (result == kSuccess) *comm = made.release();
  return result;
}

int ncclCommInitRankConfig(Member** comm, int members, ncclUniqueId id, int rank, Config* config) {
  if (config->size != sizeof(Config) || config->magic != 0xcafebeef || config->blocking != 0) {
    return kInvalidArgument;
  }
  auto made = begin_joining(members, id.internal, rank);
  if (!made) return members > kMostMembers ? kInvalidArgument : kSystemError;
  made->blocking = false;
  made->call = [member = made.get()](std::unique_lock<std::mutex>&) {
    return member->shared->joined < member->members ? kInProgress : end_joining(*member);
  };
  *comm = made.release();
  return kInProgress;
}

int ncclSend(const void* from, std::size_t count, int, int peer, Member* comm,
             cudaStream_t stream) {
  return message(*comm, /*sends=*/true, peer, stream, [=] {
    Way& way =
        comm->shared->ways[static_cast<std::size_t>(comm->rank)][static_cast<std::size_t>(peer)];
    return queue_send(static_cast<const std::byte*>(from), count, way, *comm, stream);
  });
}

int ncclRecv(void* to, std::size_t count, int, int peer, Member* comm, cudaStream_t stream) {
  return message(*comm, /*sends=*/false, peer, stream, [=] {
    Way& way =
        comm->shared->ways[static_cast<std::size_t>(peer)][static_cast<std::size_t>(comm->rank)];
    return queue_receive(static_cast<std::byte*>(to), count, way, *comm, stream);
  });
}

int ncclCommGetAsyncError(Member* comm, int* error) {
  std::unique_lock held(Device::get().lock());
  *error = *comm->lost ? kRemoteError : kSuccess;
  if (!comm->call) return kSuccess;
  const Result result = comm->call(held);
  if (result != kInProgress) comm->call = {};
  *error = result;
  return kSuccess;
}

int ncclCommAbort(Member* comm) {
  if (!comm->joined && comm->rank == 0) shm_unlink(comm->name.c_str());
  *comm->aborted = true;
  while (comm->recorded.use_count() > 1 || !settings().nccl_ends) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  delete comm;
  return kSuccess;
}

int ncclCommFinalize(Member* comm) {
  if (comm->call) return kInvalidArgument;
  comm->call = [](std::unique_lock<std::mutex>& held) {
    Device::get().drain_all(held);
    return kSuccess;
  };
  return kInProgress;
}

int ncclCommDestroy(Member* comm) {
  std::unique_lock held(Device::get().lock());
  if (comm->call) return kInvalidArgument;
  Device::get().drain_all(held);
  held.unlock();
  return ncclCommAbort(comm);
}

const char* ncclGetErrorString(int result) {
  switch (result) {
    case kSuccess:
      return "no error";
    case kCudaError:
      return "unhandled cuda error";
    case kSystemError:
      return "unhandled system error";
    case kInvalidUsage:
      return "invalid usage";
    case kInProgress:
      return "NCCL operation in progress";
    case kRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "invalid argument";
  }
}

const char* ncclGetLastError(Member*) { return ""; }

}  // extern "C"
