#pragma once

#include <string>

#include "hios/base/json/json_io.h"

namespace hios::cli {

/// Returns "hios 0.1.0, commit 1c4bbc0f9a21 of 2026-11-26 (g++ 12.2.0, MPI yes, oneDNN 2.6.3)";
/// without the commit where the sources were no checkout.
std::string version_line();
/// Returns "0.1.0".
std::string version();
/// Returns true if this build runs ranks over MPI.
bool with_mpi();
/// Returns the commit that was built, "1c4bbc0f9a21", with "-dirty" where files differed from it;
/// empty where the sources were no checkout. It is defined in a file that the build makes
/// (cmake/HiosCommit.cmake).
std::string commit();
/// Returns the date of that commit, "2026-11-26"; empty where commit() is. Defined in the same
/// file.
std::string commit_date();
/// Returns the compiler and the kind of build, on which times depend: "g++ 12.2.0, Release".
std::string build_text();
/// Returns a digest of version, commit, compiler and flags. All ranks of a job must have the same.
std::string build_id();
/// Returns the entry of reports: {"hios": …, "commit": …, "compiler": …, "build": …}.
Json versions();

}  // namespace hios::cli
