#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cuda/device/handles.h"
#include "engine/cuda/device/memory.h"
#include "mpi/accelerator.h"

namespace hios::cuda {

/// Working memory of one stream. Its operators run one after the other, so they share one block, as
/// large as the neediest wants. Operators say at bind what they need and ask where it lies when
/// they queue. A block that became too small is kept: recordings made before still use it, and
/// growth by half at least keeps the sum of all below three times the last. Nothing survives an
/// operator.
class Scratch {
 public:
  void reserve(Bytes size_bytes);
  std::byte* data() const { return blocks_.empty() ? nullptr : blocks_.back()->data(); }

 private:
  std::vector<std::unique_ptr<DeviceBlock>> blocks_;
};

/// A CUDA stream and what its operators share.
class StreamState {
 public:
  StreamState();
  cudaStream_t stream() const { return stream_.get(); }
  Scratch& scratch() { return scratch_; }
  /// cuDNN on this stream; made when it is first asked for, at bind.
  cudnnHandle_t cudnn();
  cudaEvent_t ended() const { return ended_.get(); }

 private:
  Stream stream_;
  Event ended_;
  CudnnHandle cudnn_;
  Scratch scratch_;
};

/// The streams of a GPU: one a group, the first of which is the work queue, one for copies that
/// leave it, and one for copies from each other rank. Main thread only.
class Streams {
 public:
  Streams();

  StreamState& work() const { return *groups_.front(); }
  /// Made if new; stays where it is.
  StreamState& group(StreamIndex index);
  /// Made if new.
  mpi::Queue in_queue(Rank peer);
  cudaStream_t queue(mpi::Queue queue) const;

  /// Queues the groups of a stage: those beyond the first start when what was queued on the work
  /// stream before has ended, and what is queued there later starts when all have ended. REQUIRES:
  /// group(core share.stream) for each core share.
  void run(std::span<const BoundGroup> groups, std::span<const CoreShare> shares);
  /// Copies in order with the work queue, and waits. Not a plain cudaMemcpy: that is in order with
  /// no stream of ours, and may return before pageable memory has arrived.
  void copy(void* to, const void* from, Bytes size_bytes);
  /// Waits for all of them.
  void synchronize();

 private:
  std::vector<std::unique_ptr<StreamState>> groups_;
  Stream out_;
  std::vector<Stream> in_;                       // Queue::kFirstIn and on
  std::map<std::size_t, mpi::Queue> in_queues_;  // by rank
  Event forked_;
};

}  // namespace hios::cuda
