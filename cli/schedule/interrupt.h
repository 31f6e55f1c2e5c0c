#pragma once

namespace hios::cli {

/// While it lives, the first Ctrl-C (SIGINT) asks the work to end with the best that it has; a
/// second one ends the program at once, as it would have without this. One at a time, made and
/// destroyed by the main thread. Where the program was started with SIGINT ignored (a background
/// job), it stays ignored.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();  ///< Ctrl-C ends the program again
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Cheap; any thread may ask.
  static bool asked();
};

/// The exit status after an interrupt whose results were written all the same.
inline constexpr int kInterrupted = 128 + 2;  // SIGINT is 2 everywhere

}  // namespace hios::cli
