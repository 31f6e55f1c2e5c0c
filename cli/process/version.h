#pragma once

#include <string>

#include "hios/base/json/json_io.h"

namespace hios::cli {

/// "hios 0.1.0 (g++ 12.2.0, MPI yes, oneDNN yes)".
std::string version_line();
/// The commit that was built, "1c4bbc0f9a21", with "-dirty" where files differed from it; empty
/// where the sources were no checkout. Defined in a file that the build makes
/// (cmake/HiosCommit.cmake).
std::string commit();
/// Tells builds apart: version, commit, compiler, flags. Ranks must agree on it.
std::string build_id();
/// For reports: {"hios": …, "commit": …, "compiler": …, "build": …}.
Json versions();

}  // namespace hios::cli
