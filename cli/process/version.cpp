#include "cli/process/version.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "hios/base/digest.h"

namespace hios::cli {

namespace {

#ifdef __clang__
constexpr const char* kCompiler = "clang++ " __clang_version__;
#else
constexpr const char* kCompiler = "g++ " __VERSION__;
#endif

}  // namespace

std::string version_line() {
  const std::string which = commit().empty() ? "" : ", commit " + commit() + " of " + commit_date();
  return "hios " HIOS_VERSION + which + " (" + kCompiler +
         ", MPI " HIOS_WITH_MPI ", oneDNN " HIOS_WITH_CPU ")";
}

std::string version() { return HIOS_VERSION; }

bool with_mpi() { return std::string_view(HIOS_WITH_MPI) == "yes"; }

std::string build_text() {
  std::string text = std::string(kCompiler) + ", " HIOS_BUILD_FLAGS;
  text.erase(text.find_last_not_of(", ") + 1);
  return text;
}

std::string build_id() {
  return Digest().add(version_line()).add(HIOS_BUILD_FLAGS).add(commit()).hex();
}

Json versions() {
  return {{"hios", HIOS_VERSION},
          {"commit", commit()},
          {"compiler", kCompiler},
          {"flags", HIOS_BUILD_FLAGS},
          {"build", build_id()}};
}

}  // namespace hios::cli
