#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/device/handles.h"
#include "engine/cuda/device/memory.h"
#include "mpi/accelerator.h"

namespace hios::cuda {

/// Working memory of one stream. Its operators run one after another, so they share one block of
/// the largest size needed. Operators reserve their size at bind and ask for the address when they
/// queue. A block that became too small is kept, since earlier recordings still use it. Growth by
/// at least half keeps the sum of all blocks below three times the last. An operator's data do not
/// survive it.
class Scratch {
 public:
  void reserve(Bytes size_bytes);
  std::byte* data() const { return blocks_.empty() ? nullptr : blocks_.back()->data(); }

 private:
  std::vector<std::unique_ptr<DeviceBlock>> blocks_;
};

/// A CUDA stream and the state that its operators share.
class StreamState {
 public:
  StreamState();
  cudaStream_t stream() const { return stream_.get(); }
  Scratch& scratch() { return scratch_; }
  /// Returns cuDNN's handle for this stream; created at the first call, at bind.
  cudnnHandle_t cudnn();
  cudaEvent_t ended() const { return ended_.get(); }

 private:
  Stream stream_;
  Event ended_;
  CudnnHandle cudnn_;
  Scratch scratch_;
};

/// The streams of a GPU: one for each group, the first of which is the work queue; one for copies
/// that leave it; one for copies from each other rank; and one for each lane of loads. Main thread
/// only.
class Streams {
 public:
  Streams();

  StreamState& work() const { return *groups_.front(); }
  /// Returns the group's stream, created if new; its address stays valid.
  StreamState& group(StreamIndex index);
  /// Returns the queue for copies from `peer`, created if new.
  mpi::Queue in_queue(Rank peer) { return queue_of(in_queues_, peer.index()); }
  /// Returns the queue for a lane's loads, created if new.
  mpi::Queue load_queue(std::size_t lane) { return queue_of(load_queues_, lane); }
  cudaStream_t queue(mpi::Queue queue) const;

  /// Notes that work was queued there, which synchronize() must wait for.
  void note_work(mpi::Queue queue) const { ++progress(queue).queued; }
  /// Returns the number of the last work that was queued there.
  std::size_t last_work(mpi::Queue queue) const { return progress(queue).queued; }
  /// Notes that the work queue's later work waits for the work of that number there.
  void note_joined(mpi::Queue queue, std::size_t number) const {
    progress(queue).joined = std::max(progress(queue).joined, number);
  }

  /// Queues the groups of a stage. All but the first start when all earlier work of the work queue
  /// has ended; later work there starts when all groups have ended. REQUIRES: group(share.stream)
  /// for each core share.
  void run(std::span<const BoundGroup> groups, std::span<const CoreShare> shares);
  /// Copies in order with the work queue, and waits. Not a plain cudaMemcpy: that is in order with
  /// none of our streams, and may return before pageable memory has been written.
  void copy(void* to, const void* from, Bytes size_bytes);
  /// Waits for all streams: for the work queue alone, once it waits for all others.
  void synchronize();

 private:
  /// The work of a queue that was queued, and that the work queue waits for, by number.
  struct Progress {
    std::size_t queued = 0, joined = 0;
  };
  Progress& progress(mpi::Queue queue) const {
    return progress_.at(static_cast<std::size_t>(queue));
  }
  using Queues = std::map<std::size_t, mpi::Queue>;
  mpi::Queue queue_of(Queues& known, std::size_t number);

  std::vector<std::unique_ptr<StreamState>> groups_;
  Stream out_;
  std::vector<Stream> in_;  // from Queue::kFirstIn on
  Queues in_queues_;        // by rank
  Queues load_queues_;      // by lane
  Event forked_, joined_;
  mutable std::vector<Progress> progress_;  // by queue
};

}  // namespace hios::cuda
