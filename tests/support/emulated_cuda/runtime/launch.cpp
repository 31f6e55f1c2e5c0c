// A block's threads, one after another: each runs until it returns or waits at a barrier; once all
// have done so, the next round begins. Threads that reach a barrier have stacks of their own
// (fibers). A kernel without barriers needs one stack: a thread that ends leaves it to the next.
#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "support/emulated_cuda/runtime/barriers.h"
#include "support/emulated_cuda/runtime/fiber.h"
#include "support/emulated_cuda/runtime/settings.h"
#include "support/emulated_cuda/runtime/streams.h"

namespace hios::cuda_emulation {
namespace {

class Block {
 public:
  void run(dim3 block, const std::function<void()>& kernel);
  void wait() { fibers_[current_]->leave(); }
  [[noreturn]] void fault(cudaError_t error) { throw Fault{error}; }

 private:
  /// Runs one thread until it ends or waits; returns true if it has ended.
  bool run_thread(dim3 block, std::size_t thread, Fiber& fiber);

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::size_t current_ = 0;  // of fibers_
};

/// Puts the numbers below `count` into the order of the settings.
std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (settings().threads == Threads::kFalling) std::reverse(order.begin(), order.end());
  if (settings().threads == Threads::kRandom) {
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[next_random(i)]);
  }
  return order;
}

bool Block::run_thread(dim3 block, std::size_t thread, Fiber& fiber) {
  const auto index = static_cast<unsigned>(thread);
  threadIdx = {index % block.x, index / block.x % block.y, index / block.x / block.y};
  return fiber.enter();
}

void Block::run(dim3 block, const std::function<void()>& kernel) {
  const std::size_t threads = std::size_t{block.x} * block.y * block.z;
  std::vector<std::size_t> order = in_order(threads), fiber_of(threads);
  std::size_t used = 0, ended = 0;
  cudaError_t fault = cudaSuccess;
  const std::function<void()> body = [&] {
    try {
      kernel();
    } catch (const Fault& of_thread) {
      fault = of_thread.error;
    }
  };
  for (const std::size_t thread : order) {  // the first round
    if (used == fibers_.size()) fibers_.push_back(std::make_unique<Fiber>());
    current_ = fiber_of[thread] = used;
    fibers_[used]->start(body);
    if (run_thread(block, thread, *fibers_[used])) {
      ++ended;
    } else {
      ++used;
    }
    if (fault != cudaSuccess) throw Fault{fault};
  }
  while (ended < threads) {
    if (ended > 0) throw Fault{cudaErrorLaunchFailure};  // a barrier that only some reached
    order = in_order(threads);
    for (const std::size_t thread : order) {
      current_ = fiber_of[thread];
      if (run_thread(block, thread, *fibers_[current_])) ++ended;
      if (fault != cudaSuccess) throw Fault{fault};
    }
  }
}

Block the_block;
std::size_t queued_kernels = 0;

}  // namespace

std::size_t launches() { return queued_kernels; }

BarrierWatch& barrier_watch() {
  static BarrierWatch watch;
  return watch;
}

}  // namespace hios::cuda_emulation

using namespace hios::cuda_emulation;

void __syncthreads(std::source_location place) {
  BarrierWatch& watch = barrier_watch();
  if (watch.on) {
    const Barrier barrier = {place.file_name(), place.line()};
    watch.reached.insert(barrier);
    if (barrier == watch.missing) return;
  }
  the_block.wait();
}
void emulated_fault(cudaError_t error) { the_block.fault(error); }

cudaError_t emulated_launch(dim3 grid, dim3 block, cudaStream_t stream,
                            std::function<void()> kernel) {
  const std::unique_lock held(Device::get().lock());
  constexpr unsigned kMostX = 0x7fffffff, kMostYOrZ = 65535, kMostThreads = 1024, kMostZ = 64;
  if (grid.x > kMostX || grid.y > kMostYOrZ || grid.z > kMostYOrZ || block.z > kMostZ ||
      std::size_t{block.x} * block.y * block.z > kMostThreads) {
    return answer(cudaErrorInvalidConfiguration);
  }
  ++queued_kernels;
  const std::string name = "kernel " + std::to_string(grid.x) + " " + std::to_string(grid.y) + " " +
                           std::to_string(grid.z) + " " + std::to_string(block.x);
  return enqueue(stream, {name, [grid, block, kernel = std::move(kernel)] {
                            gridDim = grid;
                            blockDim = block;
                            const std::size_t row = std::size_t{grid.x} * grid.y;
                            for (const std::size_t one : in_order(row * grid.z)) {
                              blockIdx = {static_cast<unsigned>(one % grid.x),
                                          static_cast<unsigned>(one / grid.x % grid.y),
                                          static_cast<unsigned>(one / row)};
                              the_block.run(block, kernel);
                            }
                          }});
}
