#pragma once

#include <functional>
#include <memory>

#include "engine/backend/backend.h"
#include "engine/cuda/device/handles.h"
#include "engine/cuda/device/streams.h"

namespace hios::cuda {

/// Captures the work that `queue` puts on `stream`, and on streams forked from it and joined to it,
/// as a CUDA graph, ready to launch there.
std::unique_ptr<Recording> record(cudaStream_t stream, const std::function<void()>& queue);

/// Does the same, but returns the graph alone.
GraphExec capture(cudaStream_t stream, const std::function<void()>& queue);

/// Makes events with timing. The streams outlive them.
std::unique_ptr<ClockMarks> make_marks(const Streams& streams, std::size_t count);

}  // namespace hios::cuda
