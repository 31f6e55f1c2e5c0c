#pragma once

#include <memory>

#include "support/emulated_cuda/runtime/device.h"
#include "support/emulated_cuda/runtime/settings.h"

/// Streams, and the rules by which their work is recorded. REQUIRES, of all functions: the device's
/// lock is held.
namespace hios::cuda_emulation {

/// Adds work to a stream: to its queue, or to the graph that records it. Without a stream, runs it.
cudaError_t enqueue(cudaStream_t stream, Work work);
std::shared_ptr<Queue> queue_of(cudaStream_t stream);
bool is_capturing(cudaStream_t stream);
/// Ends a recording by a call that none may contain; returns the error of that call.
cudaError_t invalidate(cudaStream_t stream);
/// Returns the number of times that a host has waited for a stream.
std::size_t synchronizations();
/// Returns the number of kernels of our own that were queued.
std::size_t launches();
/// Returns an error, and ends the recordings, if this thread records: for calls that may wait for
/// the device.
cudaError_t refuse_while_capturing();

}  // namespace hios::cuda_emulation
