#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>

namespace hios::cuda_emulation {

/// A function with a stack of its own, which may stop in the middle and go on later. One at a time
/// is entered, from any thread.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Sets the function that the next enter() begins; one that was left is forgotten.
  void start(const std::function<void()>& function);
  /// Runs the function until it leaves or returns; returns true if it has returned.
  bool enter();
  /// Returns from enter(). REQUIRES: called by the function.
  void leave();

 private:
  static void run(unsigned high, unsigned low);
  void switch_in();

  std::size_t stack_bytes_ = 0;
  char* stack_ = nullptr;
  const std::function<void()>* function_ = nullptr;
  bool entered_ = false, returned_ = false;
  ucontext_t first_inside_{}, first_outside_{};
  // Frame, stack and instruction, and two words that the compiler may use.
  void *inside_[5] = {}, *outside_[5] = {};
  // The address sanitizer must know the stack in use.
  void* fake_stack_ = nullptr;
  const void* outside_stack_ = nullptr;
  std::size_t outside_bytes_ = 0;
};

}  // namespace hios::cuda_emulation
