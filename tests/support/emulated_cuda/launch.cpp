// A block's threads as fibers: each runs on a stack of its own until it returns or waits at a
// barrier; once all have done so, the next round begins.
#include <ucontext.h>

#include <memory>
#include <vector>

#include "cuda_runtime_api.h"

namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 10;

class Block {
 public:
  cudaError_t run(dim3 block, const std::function<void()>& kernel) {
    const std::size_t threads = std::size_t{block.x} * block.y * block.z;
    while (fibers_.size() < threads) {
      fibers_.push_back({{}, std::unique_ptr<char[]>(new char[kStackBytes])});
    }
    kernel_ = &kernel;
    for (std::size_t i = 0; i < threads; ++i) start(fibers_[i].context, fibers_[i].stack.get());
    for (;;) {
      std::size_t ended = 0;
      for (std::size_t i = 0; i < threads; ++i) {
        const auto index = static_cast<unsigned>(i);
        threadIdx = {index % block.x, index / block.x % block.y, index / block.x / block.y};
        ended_ = false;
        current_ = &fibers_[i].context;
        swapcontext(&scheduler_, current_);
        if (ended_) ++ended;
      }
      if (ended == threads) return cudaSuccess;
      if (ended > 0) return cudaErrorLaunchFailure;
    }
  }
  void wait() { swapcontext(current_, &scheduler_); }

 private:
  struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
  };
  void start(ucontext_t& context, char* stack) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = kStackBytes;
    context.uc_link = &scheduler_;
    makecontext(&context, enter, 0);
  }
  static void enter();

  std::vector<Fiber> fibers_;
  const std::function<void()>* kernel_ = nullptr;
  ucontext_t scheduler_{};
  ucontext_t* current_ = nullptr;
  bool ended_ = false;  // the last thread that ran has ended
};

Block the_block;

void Block::enter() {
  (*the_block.kernel_)();
  the_block.ended_ = true;
}

}  // namespace

void __syncthreads() { the_block.wait(); }

cudaError_t emulated_launch(dim3 grid, dim3 block, cudaStream_t,
                            const std::function<void()>& kernel) {
  gridDim = grid;
  blockDim = block;
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        if (const cudaError_t error = the_block.run(block, kernel)) return error;
      }
    }
  }
  return cudaSuccess;
}
