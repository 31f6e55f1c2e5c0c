#pragma once

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

namespace hios::test {

/// Returns true if the process is stopped (SIGSTOP).
inline bool is_stopped(pid_t process) {
  std::FILE* const file = std::fopen(("/proc/" + std::to_string(process) + "/stat").c_str(), "r");
  if (file == nullptr) return false;
  char text[512] = {};
  const std::size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = '\0';
  const char* const bracket = std::strrchr(text, ')');  // PID (NAME) STATE
  return bracket != nullptr && std::strncmp(bracket, ") T", 3) == 0;
}

/// Starts a process that waits until this one is stopped, lets it be stopped for some time, and
/// continues it. It ends if this one ends. REQUIRES: this process has no other threads.
inline void continue_after_a_stop_of(std::chrono::milliseconds duration) {
  const pid_t stopped = getpid();
  if (fork() != 0) return;
  const auto sleep_ms = [](long ms) {
    const timespec pause{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1'000'000};
    nanosleep(&pause, nullptr);
  };
  while (!is_stopped(stopped)) {
    if (getppid() != stopped) _exit(0);
    sleep_ms(5);
  }
  sleep_ms(static_cast<long>(duration.count()));
  kill(stopped, SIGCONT);
  _exit(0);
}

}  // namespace hios::test
