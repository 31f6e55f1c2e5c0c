#pragma once

#include <string>

#include "hios/base/json_io.h"

namespace hios::cli {

/// "hios 0.1.0 (g++ 12.2.0, MPI yes, oneDNN yes)".
std::string version_line();
/// Tells builds apart: version, compiler, flags. Ranks must agree on it.
std::string build_id();
/// For reports: {"hios": …, "compiler": …, "build": …}.
Json versions();

}  // namespace hios::cli
