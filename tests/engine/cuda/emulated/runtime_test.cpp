// The emulated device keeps CUDA's rules: queues run late, recordings are refused that CUDA
// refuses, and errors stay.
#include <gtest/gtest.h>

#include <array>

#include <cuda_runtime_api.h>

#include "support/emulated_cuda/runtime/settings.h"

namespace hios {
namespace {

using cuda_emulation::Order;

class EmulatedRuntime : public testing::TestWithParam<Order> {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");  // the device has a thread
    cuda_emulation::settings().order = GetParam();
    for (cudaStream_t& stream : streams) {
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    }
    ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&memory, 64), cudaSuccess);
  }
  void TearDown() override {
    for (cudaStream_t const stream : streams) cudaStreamDestroy(stream);
    cudaEventDestroy(event);
    cudaFree(memory);
    cuda_emulation::settings() = before;
  }
  void fill(int value, std::size_t stream) const {
    EXPECT_EQ(cudaMemsetAsync(memory, value, 64, streams[stream]), cudaSuccess);
  }
  int first_byte() {
    unsigned char value = 0;
    cudaMemcpyAsync(&value, memory, 1, cudaMemcpyDefault, streams[0]);
    EXPECT_EQ(cudaStreamSynchronize(streams[0]), cudaSuccess);
    return value;
  }
  cudaError_t end_capture() const {
    cudaGraph_t graph = nullptr;
    const cudaError_t result = cudaStreamEndCapture(streams[0], &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return result;
  }
  void begin_capture() const {
    ASSERT_EQ(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeThreadLocal), cudaSuccess);
  }

  const cuda_emulation::Settings before = cuda_emulation::settings();
  std::array<cudaStream_t, 3> streams{};
  cudaEvent_t event = nullptr;
  void* memory = nullptr;
};

TEST_P(EmulatedRuntime, OrdersQueuesByEvents) {
  for (int i = 1; i < 20; ++i) {
    fill(i, 1);
    ASSERT_EQ(cudaEventRecord(event, streams[1]), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(streams[0], event, 0), cudaSuccess);
    EXPECT_EQ(first_byte(), i);
  }
}

/// A wait is for the record that was the last when it was queued, also where a later one, on a
/// queue with less work, ends first.
TEST_P(EmulatedRuntime, KeepsWaitsWhereAnEventIsRecordedAgain) {
  for (int i = 1; i < 20; ++i) {
    for (int j = 0; j < 5; ++j) fill(100, 1);
    fill(i, 1);
    ASSERT_EQ(cudaEventRecord(event, streams[1]), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(streams[0], event, 0), cudaSuccess);
    ASSERT_EQ(cudaEventRecord(event, streams[2]), cudaSuccess);
    while (cudaEventQuery(event) == cudaErrorNotReady) {
    }
    EXPECT_EQ(first_byte(), i);
  }
}

TEST_P(EmulatedRuntime, RefusesARecordingThatIsNotJoined) {
  begin_capture();
  fill(1, 0);
  ASSERT_EQ(cudaEventRecord(event, streams[0]), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(streams[1], event, 0), cudaSuccess);
  fill(2, 1);
  EXPECT_EQ(end_capture(), cudaErrorStreamCaptureUnjoined);
}

TEST_P(EmulatedRuntime, RefusesAllocationWhileRecording) {
  begin_capture();
  void* more = nullptr;
  EXPECT_EQ(cudaMalloc(&more, 64), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(end_capture(), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
}

TEST_P(EmulatedRuntime, RefusesToRecordAWaitForWhatIsNotRecorded) {
  ASSERT_EQ(cudaEventRecord(event, streams[1]), cudaSuccess);
  begin_capture();
  EXPECT_EQ(cudaStreamWaitEvent(streams[0], event, 0), cudaErrorStreamCaptureIsolation);
  EXPECT_EQ(end_capture(), cudaErrorStreamCaptureInvalidated);
}

TEST_P(EmulatedRuntime, ReplaysWhatItRecorded) {
  begin_capture();
  fill(7, 0);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(streams[0], &graph), cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_NE(first_byte(), 7);
  ASSERT_EQ(cudaGraphLaunch(executable, streams[0]), cudaSuccess);
  EXPECT_EQ(first_byte(), 7);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_P(EmulatedRuntime, FindsWritesPastABlock) {
  EXPECT_DEATH(
      {
        static_cast<volatile unsigned char*>(memory)[64] = 1;
        cudaFree(memory);
      },
      "past the end|AddressSanitizer");
}

/// A kernel with a barrier, each of whose threads has a stack of its own.
TEST_P(EmulatedRuntime, FindsWritesOfAKernelPastABlock) {
  auto* const bytes = static_cast<volatile unsigned char*>(memory);
  const auto write = [&](unsigned first) {
    emulated_launch(1, 32, streams[0], [bytes, first] {
      bytes[threadIdx.x] = 1;
      __syncthreads();
      bytes[first + threadIdx.x] = 2;
    });
    cudaStreamSynchronize(streams[0]);
  };
  write(32);
  EXPECT_EQ(first_byte(), 1);
  EXPECT_DEATH(
      {
        write(33);
        cudaFree(memory);
      },
      "past the end|AddressSanitizer: use-after-poison");
}

#if defined(__SANITIZE_ADDRESS__)
TEST_P(EmulatedRuntime, FindsReadsOfTheHostPastABlock) {
  const auto* const bytes = static_cast<const volatile unsigned char*>(memory);
  (void)bytes[63];
  EXPECT_DEATH((void)bytes[64], "AddressSanitizer: use-after-poison");
}

TEST_P(EmulatedRuntime, FindsReadsOfTheHostPastPinnedMemory) {
  void* pinned = nullptr;
  ASSERT_EQ(cudaHostAlloc(&pinned, 100, cudaHostAllocDefault), cudaSuccess);
  EXPECT_DEATH((void)static_cast<const volatile unsigned char*>(pinned)[100],
               "AddressSanitizer: heap-buffer-overflow");
  cudaFreeHost(pinned);
}

/// Reads leave no trace in the zone after a block.
TEST_P(EmulatedRuntime, FindsReadsOfAKernelPastABlock) {
  const auto* const bytes = static_cast<const volatile unsigned char*>(memory);
  EXPECT_DEATH(
      {
        emulated_launch(1, 65, streams[0], [bytes] {
          __syncthreads();
          (void)bytes[threadIdx.x];
        });
        cudaStreamSynchronize(streams[0]);
      },
      "AddressSanitizer: use-after-poison");
}
#endif

TEST_P(EmulatedRuntime, KeepsAFaultForever) {
  const auto fault = [this] {
    const auto* const odd = reinterpret_cast<const float*>(static_cast<char*>(memory) + 2);
    emulated_launch(1, 1, streams[0], [odd] { __ldg(odd); });
    const bool kept = cudaStreamSynchronize(streams[0]) == cudaErrorMisalignedAddress &&
                      cudaStreamSynchronize(streams[1]) == cudaErrorMisalignedAddress &&
                      cudaGetLastError() == cudaErrorMisalignedAddress;
    std::_Exit(kept ? 0 : 1);
  };
  EXPECT_EXIT(fault(), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(In, EmulatedRuntime,
                         testing::Values(Order::kEarly, Order::kLate, Order::kRandom),
                         [](const auto& order) -> std::string {
                           return order.param == Order::kEarly  ? "early"
                                  : order.param == Order::kLate ? "late"
                                                                : "random";
                         });

}  // namespace
}  // namespace hios
