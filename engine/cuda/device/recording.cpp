#include "engine/cuda/device/recording.h"

#include <utility>
#include <vector>

#include "engine/cuda/device/tool_range.h"

namespace hios::cuda {
namespace {

constexpr const char* kRecording = "recording a graph";

class GraphRecording final : public Recording {
 public:
  GraphRecording(GraphExec graph, cudaStream_t stream)
      : graph_(std::move(graph)), stream_(stream) {}
  void replay() override {
    const ToolRange range("recorded stages");
    HIOS_CUDA(cudaGraphLaunch(graph_.get(), stream_), "launching a graph");
  }

 private:
  GraphExec graph_;
  cudaStream_t stream_;
};

class EventMarks final : public ClockMarks {
 public:
  EventMarks(const Streams& streams, std::size_t count) : streams_(streams) {
    for (std::size_t i = 0; i < count; ++i) events_.push_back(make_timed_event());
  }

  /// Records a mark. Inside a recording it must be a node of its own; otherwise it would only
  /// order.
  void mark_in(mpi::Queue queue, std::size_t index) override {
    constexpr const char* kDoing = "reading the GPU's clock";
    const cudaStream_t stream = streams_.queue(queue);
    streams_.note_work(queue);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    HIOS_CUDA(cudaStreamIsCapturing(stream, &status), kDoing);
    const unsigned flags =
        status == cudaStreamCaptureStatusNone ? cudaEventRecordDefault : cudaEventRecordExternal;
    HIOS_CUDA(cudaEventRecordWithFlags(events_.at(index).get(), stream, flags), kDoing);
  }

  double ms(std::size_t from, std::size_t to) const override {
    float milliseconds = 0;
    HIOS_CUDA(cudaEventElapsedTime(&milliseconds, events_.at(from).get(), events_.at(to).get()),
              "taking the time between two marks");
    return milliseconds;
  }

 private:
  const Streams& streams_;
  std::vector<Event> events_;
};

}  // namespace

GraphExec capture(cudaStream_t stream, const std::function<void()>& queue) {
  HIOS_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), kRecording);
  cudaGraph_t captured = nullptr;
  try {
    queue();
  } catch (...) {
    swallow(cudaStreamEndCapture(stream, &captured));
    if (captured != nullptr) swallow(cudaGraphDestroy(captured));
    throw;
  }
  HIOS_CUDA(cudaStreamEndCapture(stream, &captured), kRecording);
  const Graph graph(captured);
  cudaGraphExec_t executable = nullptr;
  HIOS_CUDA(cudaGraphInstantiate(&executable, graph.get(), 0), kRecording);
  GraphExec result(executable);
  HIOS_CUDA(cudaGraphUpload(executable, stream), kRecording);
  return result;
}

std::unique_ptr<Recording> record(cudaStream_t stream, const std::function<void()>& queue) {
  return std::make_unique<GraphRecording>(capture(stream, queue), stream);
}

std::unique_ptr<ClockMarks> make_marks(const Streams& streams, std::size_t count) {
  return std::make_unique<EventMarks>(streams, count);
}

}  // namespace hios::cuda
