#include "cli/schedule/interrupt.h"

#include <signal.h>

#include <atomic>

namespace hios::cli {

static_assert(kInterrupted == 128 + SIGINT);

namespace {

/// Set by the handler, which may do little else.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may not wait for a lock");

void note(int) { interrupted = true; }

void handle(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
}

bool ignored() {
  struct sigaction now {};
  sigaction(SIGINT, nullptr, &now);
  return now.sa_handler == SIG_IGN;
}

}  // namespace

Interrupt::Interrupt() {
  interrupted = false;
  // Reset by the first signal, so that the second finds the default: the end.
  if (!ignored()) handle(note, static_cast<int>(SA_RESETHAND) | SA_RESTART);
}

Interrupt::~Interrupt() {
  if (!ignored()) handle(SIG_DFL, 0);
}

bool Interrupt::asked() { return interrupted; }

}  // namespace hios::cli
