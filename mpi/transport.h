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

/// Communication between the ranks of a job, as the engine needs it. No <mpi.h> here: the
/// implementations are MPI, one rank without MPI (messages/serial.h) and, in tests, ranks as
/// threads.
namespace hios::mpi {

enum class Queue : std::size_t;  // mpi/accelerator.h

/// One tensor between two ranks, the same buffer in every iteration. The buffer is the caller's and
/// outlives the channel. Pairs match by (sender, receiver, tag).
struct Message {
  Rank peer;
  int tag = 0;
  std::byte* data = nullptr;
  Bytes size_bytes = 0;
  /// A synchronous send ends only once the receiver has posted its receive, also for small
  /// messages. A sender that waits for that end cannot run ahead of its receiver, so the receiver's
  /// memory use stays bounded.
  bool synchronous = false;
  /// The queue with which the message is in order, where a device has the buffer; the work queue
  /// unless given.
  Queue queue = {};
  /// The buffer is host memory, also on a rank with a device; the same at both ends.
  bool on_host = false;
  /// The position among the messages of all ranks that travel by a channel opened together, the
  /// same at both ends: greater than those of all messages that the sender awaits before it starts
  /// this one. Of equal ones, the tag decides, then the sender, then the receiver.
  std::size_t order = 0;
  /// Messages from one rank to another with the same number are started together: no work on their
  /// queue lies between. So they may share events. 0: alone.
  std::size_t batch = 0;
};

/// The persistent requests of one plan. Used by one thread, the one that made the transport.
/// An iteration: start_receives(); then in any order start_send(i), await_receive(i),
/// await_send(i), poll(); then finish(). No call allocates. Every await may throw RunError.
class Channel {
 public:
  virtual ~Channel() = default;
  virtual void start_receives() = 0;
  virtual void start_send(std::size_t send) = 0;
  /// Returns when the bytes are in the buffer; immediately if they already are.
  virtual void await_receive(std::size_t receive) = 0;
  /// Returns when the buffer may be overwritten.
  virtual void await_send(std::size_t send) = 0;
  /// Return true if the await would return at once, as far as poll() and the awaits have seen. Each
  /// only reads a field, so many messages can be watched at the cost of one poll().
  virtual bool received(std::size_t receive) = 0;
  virtual bool sent(std::size_t send) = 0;
  /// Lets transfers progress without waiting; cheap when nothing is under way.
  virtual void poll() = 0;
  /// Completes all transfers that were started.
  virtual void finish() = 0;
  /// Returns true if finish() would return at once, as far as poll() and the awaits have seen. Once
  /// true, it replaces finish(): the next iteration may start. Does not wait.
  virtual bool finished() = 0;
  /// Returns true if all messages can be part of a recording of a device's work, whose replay then
  /// moves them without their hosts.
  virtual bool recordable() const { return false; }
  /// Enclose the recording of an iteration, in place of start_receives() and finish(). In between,
  /// start_send, await_receive and await_send, in the order of a plan, do not wait. A recording
  /// that fails ends with `complete` false. REQUIRES: recordable().
  virtual void begin_recording() {}
  virtual void end_recording(bool complete) { (void)complete; }
  /// Throws if a message of a replayed recording is known to have failed. Does not wait.
  virtual void check() {}
  /// Ends all work of this rank's device that waits for other ranks. After a failure, when the job
  /// is about to end: a device that waits could not be given back. Waits some seconds at most;
  /// returns false if the work had not ended then. REQUIRES: recordings that hold messages have
  /// been destroyed.
  virtual bool abandon() noexcept { return true; }
  /// Releases everything borrowed from other ranks (their mapped memory and their events); no
  /// message can be sent afterwards. Memory that other ranks borrow from this rank is freed with
  /// its channel, so they must release it first: all ranks call this, meet at a barrier, and only
  /// then destroy their channels.
  virtual void disconnect() {}
};

/// The ranks of a job and the messages between them. Used only by the thread that made it
/// (MPI_THREAD_FUNNELED). All collective calls are made by all ranks in the same order.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual Rank rank() const = 0;
  virtual std::size_t size() const = 0;
  /// Return this rank's index among the ranks of its host, and their number.
  virtual std::size_t local_rank() const = 0;
  virtual std::size_t local_size() const = 0;
  virtual const std::string& host() const = 0;
  /// Describes how bytes travel, for reports: "Open MPI 4.1.4, shared memory with CMA".
  virtual std::string path() const = 0;
  /// Returns true if the library claims to accept messages in device memory. That is no proof: some
  /// libraries claim it although the support has been switched off.
  virtual bool claims_device_memory() const = 0;

  virtual void barrier() = 0;
  /// Returns every rank's text, by rank, on every rank.
  virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  /// Returns rank 0's text on every rank.
  virtual std::string broadcast(const std::string& text) = 0;
  /// Computes the element-wise maximum over ranks, on every rank, in place.
  virtual void all_reduce_max(std::span<double> values) = 0;

  /// Returns true if channels between some ranks may be recordable (Channel::recordable); the same
  /// on all ranks. A message must then be recorded on both of its ranks or on neither.
  virtual bool records_messages() const { return false; }

  /// Makes the requests of a plan. Not collective: peers may call it later.
  virtual std::unique_ptr<Channel> open_channel(std::span<const Message> sends,
                                                std::span<const Message> receives) = 0;

  /// Returns the recorder of this rank's events, for diagnosis after a failure; null: none.
  virtual flight::Recorder* recorder() const { return nullptr; }

  /// Ends the whole job at once; the caller has already printed the error. Does not return.
  [[noreturn]] virtual void abort(int exit_code) = 0;
};

}  // namespace hios::mpi
