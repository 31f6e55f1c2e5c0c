#include "engine/cuda/device/streams.h"

#include <algorithm>
#include <string>

#include "engine/cuda/device/tool_range.h"

namespace hios::cuda {
namespace {

constexpr auto kFirstIn = static_cast<std::size_t>(mpi::Queue::kFirstIn);

}  // namespace

void Scratch::reserve(Bytes size_bytes) {
  const Bytes have = blocks_.empty() ? 0 : blocks_.back()->size_bytes();
  if (size_bytes <= have) return;
  blocks_.push_back(
      std::make_unique<DeviceBlock>(std::max(size_bytes, have + have / 2), "a stream's workspace"));
}

StreamState::StreamState() : stream_(make_stream()), ended_(make_order_event()) {}

cudnnHandle_t StreamState::cudnn() {
  if (!cudnn_) {
    cudnn_ = make<CudnnHandle>("starting cuDNN", cudnnCreate);
    HIOS_CUDA(cudnnSetStream(cudnn_.get(), stream_.get()), "starting cuDNN");
  }
  return cudnn_.get();
}

Streams::Streams()
    : out_(make_stream()),
      forked_(make_order_event()),
      joined_(make_order_event()),
      progress_(kFirstIn) {
  groups_.push_back(std::make_unique<StreamState>());
}

StreamState& Streams::group(StreamIndex index) {
  while (groups_.size() <= index.index()) groups_.push_back(std::make_unique<StreamState>());
  return *groups_[index.index()];
}

mpi::Queue Streams::queue_of(Queues& known, std::size_t number) {
  const auto [found, is_new] =
      known.try_emplace(number, static_cast<mpi::Queue>(kFirstIn + in_.size()));
  if (is_new) {
    in_.push_back(make_stream());
    progress_.emplace_back();
  }
  return found->second;
}

cudaStream_t Streams::queue(mpi::Queue queue) const {
  switch (queue) {
    case mpi::Queue::kWork:
      return work().stream();
    case mpi::Queue::kOut:
      return out_.get();
    default:
      return in_.at(static_cast<std::size_t>(queue) - kFirstIn).get();
  }
}

namespace {

/// Runs an operator; adds the stream to its errors, which already name the operator.
void run_on(BoundOperator& op, const CoreShare& share) {
  try {
    op.run();
  } catch (const mpi::DeviceError& error) {
    throw mpi::DeviceError(std::string(error.what()) + ", on stream " +
                           std::to_string(share.stream.index()));
  }
}

}  // namespace

void Streams::run(std::span<const BoundGroup> groups, std::span<const CoreShare> shares) {
  const ToolRange range("stage");
  const cudaStream_t work_stream = work().stream();
  const auto is_work = [&](std::size_t i) { return shares[i].stream.index() == 0; };
  bool forked = false;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (is_work(i)) continue;
    if (!forked) {
      HIOS_CUDA(cudaEventRecord(forked_.get(), work_stream), "starting a stage");
      forked = true;
    }
    HIOS_CUDA(cudaStreamWaitEvent(group(shares[i].stream).stream(), forked_.get(), 0),
              "starting a stage");
  }
  // In turns, so that every stream gets work early: a group may be many operators long.
  std::size_t longest = 0;
  for (const BoundGroup& group : groups) longest = std::max(longest, group.size());
  for (std::size_t position = 0; position < longest; ++position) {
    for (const BoundGroup& group : groups) {
      if (position < group.size())
        run_on(*group[position], shares[static_cast<std::size_t>(&group - groups.data())]);
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (is_work(i)) continue;
    const StreamState& other = group(shares[i].stream);
    HIOS_CUDA(cudaEventRecord(other.ended(), other.stream()), "ending a stage");
    HIOS_CUDA(cudaStreamWaitEvent(work_stream, other.ended(), 0), "ending a stage");
  }
}

void Streams::copy(void* to, const void* from, Bytes size_bytes) {
  const cudaStream_t stream = work().stream();
  HIOS_CUDA(cudaMemcpyAsync(to, from, size_bytes, cudaMemcpyDefault, stream),
            "copying to or from the GPU");
  HIOS_CUDA(cudaStreamSynchronize(stream), "copying to or from the GPU");
}

// The last work of a queue is usually known to the work queue, which waits for what arrives. Only
// other work needs an event.
void Streams::synchronize() {
  constexpr const char* kDoing = "waiting for what was queued on the GPU";
  for (std::size_t i = 1; i < progress_.size(); ++i) {
    Progress& one = progress_[i];
    if (one.joined == one.queued) continue;
    HIOS_CUDA(cudaEventRecord(joined_.get(), queue(static_cast<mpi::Queue>(i))), kDoing);
    HIOS_CUDA(cudaStreamWaitEvent(work().stream(), joined_.get(), 0), kDoing);
    one.joined = one.queued;
  }
  HIOS_CUDA(cudaStreamSynchronize(work().stream()), kDoing);
}

}  // namespace hios::cuda
