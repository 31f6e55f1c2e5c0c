#include "cli/process/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "hios/base/log.h"

namespace hios::cli {

void show(const std::string& text) {
  if (log::level() != log::Level::kQuiet) std::fputs(printable_lines(text).c_str(), stdout);
}

void finish_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw RunError(std::string("standard output: ") + std::strerror(errno) +
                 "; files that were asked for are written");
}

}  // namespace hios::cli
