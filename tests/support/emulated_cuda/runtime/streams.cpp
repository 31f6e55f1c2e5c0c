#include "support/emulated_cuda/runtime/streams.h"

#include <algorithm>
#include <set>
#include <utility>

#include "support/emulated_cuda/runtime/handles.h"
#include "support/emulated_cuda/runtime/ranges.h"

namespace hios::cuda_emulation {
namespace {

std::size_t waits_of_hosts = 0;

std::set<EmulatedStream*>& all_streams() {
  static auto* const known = new std::set<EmulatedStream*>;
  return *known;
}

/// Lets no stream be recorded any more.
void leave(const std::shared_ptr<Capture>& capture) {
  capture->ended = true;
  for (EmulatedStream* const stream : all_streams()) {
    if (stream->capture != capture) continue;
    stream->capture.reset();
    stream->last.clear();
    stream->begins_capture = false;
  }
}

/// Adds to `found` the works before which `work` runs, and itself.
void add_before(const Capture& capture, std::size_t work, std::vector<bool>& found) {
  if (found[work]) return;
  found[work] = true;
  for (const std::size_t earlier : capture.works[work].after) add_before(capture, earlier, found);
}

/// Returns true if all that other streams record ends before the works `last`.
bool joined(const Capture& capture, const std::vector<std::size_t>& last) {
  std::vector<bool> found(capture.works.size(), false);
  for (const std::size_t work : last) add_before(capture, work, found);
  return std::all_of(found.begin(), found.end(), [](bool one) { return one; });
}

}  // namespace

std::size_t synchronizations() { return waits_of_hosts; }

std::shared_ptr<Queue> queue_of(cudaStream_t stream) { return stream->queue; }

bool is_capturing(cudaStream_t stream) { return stream != nullptr && stream->capture; }

cudaError_t invalidate(cudaStream_t stream) {
  stream->capture->invalid = true;
  return answer(cudaErrorStreamCaptureUnsupported);
}

cudaError_t refuse_while_capturing() {
  cudaError_t error = cudaSuccess;
  for (EmulatedStream* const stream : all_streams()) {
    if (stream->capture && stream->capture->thread == std::this_thread::get_id()) {
      error = invalidate(stream);
    }
  }
  return error;
}

cudaError_t enqueue(cudaStream_t stream, Work work) {
  Device& device = Device::get();
  if (device.sticky() != cudaSuccess) return answer(cudaSuccess);
  work.range = open_range();
  if (stream == nullptr) return answer(device.run_now(work));
  if (!stream->capture) {
    std::vector<Work> works;
    works.push_back(std::move(work));
    device.push(stream->queue, std::move(works));
    return answer(cudaSuccess);
  }
  if (stream->capture->invalid) return answer(cudaErrorStreamCaptureInvalidated);
  work.after = stream->last;
  stream->last = {stream->capture->works.size()};
  stream->capture->works.push_back(std::move(work));
  return answer(cudaSuccess);
}

}  // namespace hios::cuda_emulation

using namespace hios::cuda_emulation;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const std::unique_lock held(Device::get().lock());
  *stream = new EmulatedStream{Device::get().make_queue(), nullptr, false, {}};
  all_streams().insert(*stream);
  return answer(cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const std::unique_lock held(Device::get().lock());
  all_streams().erase(stream);
  delete stream;  // its work still runs
  return answer(cudaSuccess);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  std::unique_lock held(Device::get().lock());
  ++waits_of_hosts;
  if (stream == nullptr) return answer(cudaSuccess);
  if (stream->capture) return invalidate(stream);
  Device::get().drain(held, stream->queue);
  return answer(cudaSuccess);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::unique_lock held(Device::get().lock());
  *status = !stream->capture           ? cudaStreamCaptureStatusNone
            : stream->capture->invalid ? cudaStreamCaptureStatusInvalidated
                                       : cudaStreamCaptureStatusActive;
  return answer(cudaSuccess);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  const std::unique_lock held(Device::get().lock());
  if (stream == nullptr || !settings().records) return answer(cudaErrorStreamCaptureUnsupported);
  if (stream->capture) return answer(cudaErrorInvalidValue);
  stream->capture = std::make_shared<Capture>();
  stream->capture->thread = std::this_thread::get_id();
  stream->begins_capture = true;
  return answer(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const std::unique_lock held(Device::get().lock());
  *graph = nullptr;
  if (!stream->capture) return answer(cudaErrorInvalidValue);
  if (!stream->begins_capture) {
    stream->capture->invalid = true;
    return answer(cudaErrorStreamCaptureUnmatched);
  }
  const std::shared_ptr<Capture> capture = stream->capture;
  const bool all_joined = joined(*capture, stream->last);
  leave(capture);
  const std::vector<Work> works = std::move(capture->works);  // events still know the recording
  if (capture->invalid) return answer(cudaErrorStreamCaptureInvalidated);
  if (!all_joined) return answer(cudaErrorStreamCaptureUnjoined);
  *graph = new EmulatedGraph{works};
  return answer(cudaSuccess);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                 unsigned long long) {
  const std::unique_lock held(Device::get().lock());
  *executable = new EmulatedGraphExec{graph->works};
  return answer(cudaSuccess);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t stream) {
  const std::unique_lock held(Device::get().lock());
  return is_capturing(stream) ? invalidate(stream) : answer(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const std::unique_lock held(Device::get().lock());
  if (executable == nullptr) return answer(cudaErrorInvalidValue);
  if (is_capturing(stream)) return invalidate(stream);  // a graph inside another: not emulated
  if (Device::get().sticky() == cudaSuccess) Device::get().push(stream->queue, executable->works);
  return answer(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const std::unique_lock held(Device::get().lock());
  delete graph;
  return answer(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::unique_lock held(Device::get().lock());
  delete executable;
  return answer(cudaSuccess);
}
