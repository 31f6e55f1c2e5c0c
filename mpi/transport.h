#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hios/base/ids.h"

namespace hios::flight {
class Recorder;
}

/// What the engine may ask of other ranks. No <mpi.h> here: implementations are MPI, one rank
/// without MPI, and, in tests, ranks as threads.
namespace hios::mpi {

/// One tensor between two ranks, the same buffer in every iteration. The buffer is the caller's and
/// outlives the channel. Pairs match by (sender, receiver, tag).
struct Message {
  Rank peer;
  int tag = 0;
  std::byte* data = nullptr;
  Bytes size_bytes = 0;
  /// Of a send: it ends only once the receiver has posted its receive, small messages too. A sender
  /// that waits for the end then cannot run ahead of its receiver, whose memory stays as it is.
  bool synchronous = false;
};

/// The persistent requests of one plan. Used by one thread, the one that made the transport.
/// An iteration: start_receives(); then in any order start_send(i), await_receive(i),
/// await_send(i), poll(); then finish(). No call allocates. Every await may throw RunError.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual void start_receives() = 0;
  virtual void start_send(std::size_t send) = 0;
  /// Returns when the bytes are in the buffer; at once when they were already.
  virtual void await_receive(std::size_t receive) = 0;
  /// Returns when the buffer may be overwritten.
  virtual void await_send(std::size_t send) = 0;
  /// Whether the await would return at once, by what poll() and the awaits have seen so far: only
  /// a field is read, so that many messages can be watched at the cost of one poll().
  virtual bool received(std::size_t receive) = 0;
  virtual bool sent(std::size_t send) = 0;
  /// Lets transfers progress without waiting; cheap when nothing is under way.
  virtual void poll() = 0;
  /// Completes all that was started.
  virtual void finish() = 0;
  /// Whether finish() would return at once, by what poll() and the awaits have seen so far. Once it
  /// says so, it stands for finish(): the next iteration may start. Waits for nothing.
  virtual bool finished() = 0;
  /// Lets go of what other ranks lent (memory of theirs that is mapped here, their events); nothing
  /// can be sent any more. What a rank has lent goes with its channel, and must not go before: all
  /// ranks call this, meet at a barrier, and only then destroy their channels.
  virtual void disconnect() {}
};

/// The ranks of a job and what they say to each other. Used by the thread that made it only
/// (MPI_THREAD_FUNNELED). All collective calls are made by all ranks in the same order.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual Rank rank() const = 0;
  virtual std::size_t size() const = 0;
  /// Among the ranks of this host, and how many those are.
  virtual std::size_t local_rank() const = 0;
  virtual std::size_t local_size() const = 0;
  virtual const std::string& host() const = 0;
  /// How bytes travel, for reports: "Open MPI 4.1.4, shared memory with CMA".
  virtual std::string path() const = 0;
  /// Whether the library says that messages may lie in the memory of a device. No proof: some say
  /// so where the support has switched itself off.
  virtual bool claims_device_memory() const = 0;

  virtual void barrier() = 0;
  /// Every rank's text, by rank, on every rank.
  virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  /// Rank 0's text, on every rank.
  virtual std::string broadcast(const std::string& text) = 0;
  /// Element-wise maximum over ranks, on every rank, in place.
  virtual void all_reduce_max(std::span<double> values) = 0;

  /// Makes the requests of a plan. Collective in no way: peers may be at it later.
  virtual std::unique_ptr<Channel> open_channel(std::span<const Message> sends,
                                                std::span<const Message> receives) = 0;

  /// Where this rank notes what it does, for those who ask when it has failed; null: nowhere.
  virtual flight::Recorder* recorder() const { return nullptr; }

  /// Ends the whole job at once; the caller has printed its line before. Does not return.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

/// The job of one rank: no MPI at all.
std::unique_ptr<Transport> make_serial_transport();

}  // namespace hios::mpi
