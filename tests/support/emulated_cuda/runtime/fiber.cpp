// The first switch to a stack is by swapcontext, which asks the system about signals each time; all
// others are the compiler's own jumps, which do not and which call no library, also those to
// functions that follow one that has returned. The address sanitizer knows no jump between stacks,
// so under it all switches are by swapcontext.
#include "support/emulated_cuda/runtime/fiber.h"

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define HIOS_FIBER_JUMPS false
#else
#define HIOS_FIBER_JUMPS true
#endif

namespace hios::cuda_emulation {
namespace {

constexpr std::size_t kStackBytes = std::size_t{128} << 10;
// Stacks begin at different lines of the host's caches, which otherwise hold few of them at a time.
constexpr std::size_t kApart = 5 * 64, kPlaces = 101;
std::size_t next_place = 0;  // fibers are made under the device's lock
constexpr bool kJumps = HIOS_FIBER_JUMPS;

}  // namespace

Fiber::Fiber() : stack_bytes_(kStackBytes + next_place++ % kPlaces * kApart) {
  stack_ = new char[stack_bytes_];
}
Fiber::~Fiber() { delete[] stack_; }

void Fiber::start(const std::function<void()>& function) {
  function_ = &function;
  entered_ = kJumps && returned_;
  returned_ = false;
}

void Fiber::run(unsigned high, unsigned low) {
  auto* const fiber =
      reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32 | std::uintptr_t{low});  // NOLINT
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &fiber->outside_stack_, &fiber->outside_bytes_);
#endif
  for (;;) {
    (*fiber->function_)();
    fiber->returned_ = true;
    fiber->leave();
  }
}

#if HIOS_FIBER_JUMPS

namespace {

/// A function of its own, as the compiler asks for.
[[noreturn]] __attribute__((noinline)) void jump(void** place) { __builtin_longjmp(place, 1); }

}  // namespace

bool Fiber::enter() {
  if (__builtin_setjmp(outside_) == 0) {
    if (entered_) jump(inside_);
    switch_in();
  }
  return returned_;
}

void Fiber::leave() {
  if (__builtin_setjmp(inside_) == 0) jump(outside_);
}

#else

bool Fiber::enter() {
  void* own_fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&own_fake_stack, stack_, stack_bytes_);
  if (entered_) {
    swapcontext(&first_outside_, &first_inside_);
  } else {
    switch_in();
  }
  __sanitizer_finish_switch_fiber(own_fake_stack, nullptr, nullptr);
  return returned_;
}

void Fiber::leave() {
  __sanitizer_start_switch_fiber(returned_ ? nullptr : &fake_stack_, outside_stack_,
                                 outside_bytes_);
  swapcontext(&first_inside_, &first_outside_);
  __sanitizer_finish_switch_fiber(fake_stack_, &outside_stack_, &outside_bytes_);
}

#endif

void Fiber::switch_in() {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack_, stack_bytes_);  // of a function that was forgotten
#endif
  entered_ = true;
  getcontext(&first_inside_);
  first_inside_.uc_stack.ss_sp = stack_;
  first_inside_.uc_stack.ss_size = stack_bytes_;
  first_inside_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&first_inside_, reinterpret_cast<void (*)()>(&Fiber::run), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
  swapcontext(&first_outside_, &first_inside_);
}

}  // namespace hios::cuda_emulation
