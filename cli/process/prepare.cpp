#include "cli/process/prepare.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "cli/process/invocation.h"
#include "cli/process/last_resort.h"

namespace hios::cli {

void prepare_process(int argc, const char* const* argv) {
  catch_uncaught_exceptions();
  note_invocation(argc, argv);
  std::signal(SIGXFSZ, SIG_IGN);
  // Without this a file of the program could get the number of a closed standard stream. Writing to
  // standard output fails as before.
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(standard, F_GETFD) >= 0) continue;
    [[maybe_unused]] const int opened =
        open("/dev/null", standard == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
#ifdef M_MMAP_THRESHOLD
  // glibc would raise this to the largest block that was freed: reading a network's weights then
  // leaves a fifth of their size in holes that nothing else fits into.
  mallopt(M_MMAP_THRESHOLD, 2 << 20);
#endif
  prctl(PR_SET_NAME, std::filesystem::path(argv[0]).filename().c_str());
}

}  // namespace hios::cli
