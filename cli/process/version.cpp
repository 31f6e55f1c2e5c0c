#include "cli/process/version.h"

#include <nlohmann/json.hpp>

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
  return std::string("hios " HIOS_VERSION " (") + kCompiler +
         ", MPI " HIOS_WITH_MPI ", oneDNN " HIOS_WITH_CPU ")";
}

std::string version() { return HIOS_VERSION; }

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
