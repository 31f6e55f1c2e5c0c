// A process with a flight record that ends in the way its argument says; crash_reporter_test.cpp
// starts it.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "hios/flight/crash_reporter.h"

namespace flight = hios::flight;

namespace {

int end(const std::string& how) {
  if (how == "well") return 0;
  if (how == "kill") raise(SIGKILL);
  if (how == "segv") raise(SIGSEGV);
  if (how == "wrong-address") *reinterpret_cast<volatile int*>(8) = 1;
  if (how == "abort") std::abort();
  if (how == "term") raise(SIGTERM);
  if (how == "int") raise(SIGINT);
  if (how == "exit") std::exit(5);
  if (how == "error") {
    flight::report_failure(flight::Ending::kError, "the device is gone");
    _exit(3);
  }
  if (how == "user") {
    raise(SIGUSR1);
    std::puts("still there");
    return 0;
  }
  throw std::invalid_argument(how);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  flight::Recorder recorder;
  recorder.set_program("probe");
  recorder.set_rank(1, 2);
  recorder.set_job("job-7");
  recorder.set_folder(argv[2]);
  const flight::CrashReporter reporter(recorder);
  recorder.phase("running");
  const flight::Subject subjects[] = {{"stage 4: conv_7", "conv_7", {}, 4}};
  const flight::Recorder::Subjects steps(&recorder, subjects);
  recorder.note(flight::EventKind::kStage, steps.at(0), 12);
  return end(argv[1]);
}
