// Events of streams, of graphs and of other processes.
#include <cstdlib>
#include <cstring>
#include <new>

#include "support/emulated_cuda/runtime/handles.h"
#include "support/emulated_cuda/runtime/memory.h"
#include "support/emulated_cuda/runtime/streams.h"

using namespace hios::cuda_emulation;

namespace {

/// An error if the event's last record is part of a recording: it never happens by itself.
cudaError_t refuse_captured(const EmulatedEvent& event) {
  return event.capture ? cudaErrorCapturedEvent : cudaSuccess;
}

Work record_of(const EmulatedEvent& event) { return {"record", nullptr, event.state}; }

/// Adds works to those after which a stream's next one runs.
void add_after(EmulatedStream& stream, const std::vector<std::size_t>& works) {
  for (const std::size_t work : works) {
    if (std::find(stream.last.begin(), stream.last.end(), work) == stream.last.end()) {
      stream.last.push_back(work);
    }
  }
}

cudaError_t wait_for_captured(EmulatedStream& stream, const EmulatedEvent& event) {
  if (event.capture->ended) return cudaErrorCapturedEvent;
  if (event.capture->invalid) return cudaErrorStreamCaptureInvalidated;
  if (stream.capture && stream.capture != event.capture) return cudaErrorStreamCaptureIsolation;
  stream.capture = event.capture;  // which lets it join
  add_after(stream, event.last);
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const std::unique_lock held(Device::get().lock());
  const bool shared = (flags & cudaEventInterprocess) != 0;
  if (shared && (flags & cudaEventDisableTiming) == 0) return answer(cudaErrorInvalidValue);
  auto made = std::make_unique<EmulatedEvent>();
  made->flags = flags;
  if (!shared) {
    made->state = std::make_shared<EventState>();
  } else {
    void* const page = take_block(sizeof(EventState), /*hidden=*/true);
    if (page == nullptr) return answer(cudaErrorMemoryAllocation);
    made->shared_page = page;
    made->state = {new (page) EventState, [](EventState* state) { give_block(state); }};
  }
  *event = made.release();
  return answer(cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::unique_lock held(Device::get().lock());
  delete event;
  return answer(cudaSuccess);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  const std::unique_lock held(Device::get().lock());
  if (!is_capturing(stream)) {
    event->capture.reset();
    return enqueue(stream, record_of(*event));
  }
  if (stream->capture->invalid) return answer(cudaErrorStreamCaptureInvalidated);
  if (flags == cudaEventRecordExternal) {
    event->capture.reset();
    return enqueue(stream, record_of(*event));
  }
  event->capture = stream->capture;
  event->last = stream->last;
  return answer(cudaSuccess);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::unique_lock held(Device::get().lock());
  if (event->capture) {
    const cudaError_t error = wait_for_captured(*stream, *event);
    if (error != cudaSuccess && stream->capture) stream->capture->invalid = true;
    return answer(error);
  }
  if (stream->capture) {
    stream->capture->invalid = true;
    return answer(cudaErrorStreamCaptureIsolation);
  }
  Work wait{"wait", nullptr, nullptr, event->state};
  wait.number = event->state->recorded;
  return enqueue(stream, std::move(wait));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::unique_lock held(Device::get().lock());
  if (const cudaError_t error = refuse_while_capturing(); error != cudaSuccess) return error;
  if (const cudaError_t error = refuse_captured(*event); error != cudaSuccess) return answer(error);
  const bool done = Device::get().completed(*event->state, event->state->recorded);
  return answer(done ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t from, cudaEvent_t to) {
  const std::unique_lock held(Device::get().lock());
  for (const cudaEvent_t event : {from, to}) {
    if ((event->flags & cudaEventDisableTiming) != 0) return answer(cudaErrorInvalidResourceHandle);
    if (event->capture) return answer(cudaErrorCapturedEvent);
    if (event->state->recorded == 0) return answer(cudaErrorInvalidResourceHandle);
    if (!event->state->ended(event->state->recorded)) return answer(cudaErrorNotReady);
  }
  *ms = static_cast<float>(to->state->ms - from->state->ms);
  return answer(cudaSuccess);
}
