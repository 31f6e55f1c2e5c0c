#pragma once

#include <functional>
#include <string>

#include "mpi/session/session.h"
#include "mpi/transport.h"

/// The exit status and the error line of a program, by the exception that ended its body.
namespace hios::mpi {

/// Writes "error: TEXT" as one line, unbuffered, so that it is out before a job is aborted. Flushes
/// the program's earlier output first.
void print_error(const std::string& text);

/// The exit status and the text of an exception.
struct Failure {
  int exit_status;
  std::string text;
};
Failure current_failure(const ErrorText& text_of);

/// Returns "rank 1 on node7: TEXT", or the text where it begins with that rank already, as that of
/// a step that failed does.
std::string with_rank(Rank rank, const std::string& host, const std::string& text);

/// Runs the body as a job of one rank without MPI.
int run_one_rank(const std::function<int(Transport&)>& body, const ErrorText& text_of);

}  // namespace hios::mpi
