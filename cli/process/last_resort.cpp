#include "cli/process/last_resort.h"

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>

#include "hios/base/error.h"
#include "hios/flight/crash_reporter.h"
#include "mpi/messages/launcher.h"

// Nothing here allocates memory, of which there is perhaps none. No stream is used, since the
// thread that failed may hold its lock. tests/cli/programs/ends/out_of_memory_test.cpp.
namespace hios::cli {
namespace {

/// One line of text; a longer one is cut.
struct Line {
  char text[512];

  void write_out() const {
    int length = 0;
    while (text[length] != '\0') ++length;
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, text, static_cast<std::size_t>(length));
  }
};

/// Returns "error: rank 1 on node7: out of memory", and keeps the text in the flight record.
Line line_of(const char* what) {
  flight::note_ending(flight::Ending::kError, what);
  char rank_text[320] = "";
  if (const auto rank = mpi::launched_rank()) {
    char host[256] = "unknown host";
    if (gethostname(host, sizeof host - 1) == 0) host[sizeof host - 1] = '\0';
    std::snprintf(rank_text, sizeof rank_text, "rank %zu on %s: ", *rank, host);
  }
  Line line;
  std::snprintf(line.text, sizeof line.text, "error: %s%.*s\n", rank_text, 160, what);
  return line;
}

[[noreturn]] void end() noexcept {
  try {
    if (std::current_exception()) throw;
    // The type of an exception that left a library's noexcept function is not known.
    line_of(std::uncaught_exceptions() > 0
                ? "an exception where a library allows none: most likely out of memory"
                : "ended without an exception (std::terminate)")
        .write_out();
  } catch (const std::bad_alloc&) {
    line_of("out of memory").write_out();
  } catch (const std::exception& error) {
    line_of(error.what()).write_out();
  } catch (...) {
    line_of("an exception without a message").write_out();
  }
  mpi::let_others_connect();
  mpi::report_failure_to_launcher(static_cast<int>(ExitCode::kRunFailed));
  _exit(static_cast<int>(ExitCode::kRunFailed));
}

}  // namespace

void catch_uncaught_exceptions() { std::set_terminate(end); }

}  // namespace hios::cli
