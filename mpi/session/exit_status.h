#pragma once

#include <functional>
#include <string>

#include "mpi/session/session.h"
#include "mpi/transport.h"

/// What the end of a program's body means for its exit status and for the terminal.
namespace hios::mpi {

/// Writes "error: TEXT" as one line, past every buffer, so that it is out before a job is aborted.
/// What the program printed before goes first.
void print_error(const std::string& text);

/// The exit status and the text of the exception that is being handled. REQUIRES: in a handler.
struct Failure {
  int exit_status;
  std::string text;
};
Failure current_failure(const ErrorText& text_of);

/// "rank 1 on node7: TEXT".
std::string with_place(Rank rank, const std::string& host, const std::string& text);

/// Runs the body as a job of one rank without MPI.
int run_one_rank(const std::function<int(Transport&)>& body, const ErrorText& text_of);

}  // namespace hios::mpi
