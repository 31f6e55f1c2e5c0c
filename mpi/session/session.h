#pragma once

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// The line that a program prints for an Error: its text, and in the program's own words what its
/// Need says. Called on the main thread.
using ErrorText = std::function<std::string(const Error&)>;

/// Runs a program's body between MPI_Init and MPI_Finalize (one rank without MPI where this build
/// has none, or where the program was not started by a launcher) and turns what it throws into the
/// exit status (ExitCode, hios/base/error.h):
///  - an InputError on every rank (agreed, or thrown alike by all): rank 0 prints "error: …" as one
///    line, all ranks finalise and return 2. An InputError of some ranks alone is treated like any
///    other failure once the others have not come within a few seconds, so a step that may fail on
///    one rank only belongs in agree_on_input;
///  - any other exception: this rank prints "error: rank R on HOST: …" and aborts the job, with the
///    Error's code as status (a job without MPI returns it).
/// `body` returns the exit status; the rank's transport ends with the body's return. Call it once,
/// from main. Without a `text_of` the errors' own texts are printed.
int run_session(
    int argc, char** argv, const std::function<int(Transport&)>& body,
    const ErrorText& text_of = [](const Error& error) { return error.what(); });

/// Every rank calls this with what became of its own fallible step (its InputError's text and need,
/// or empty). If any rank failed, all throw the same InputError: the first failing rank's text and
/// need, with its rank where not all ranks failed alike. So bad input never leaves a rank waiting
/// for another.
void agree_on_input(Transport& transport, const std::string& complaint, const Need& need = {});

/// Runs a step that may find bad input on some ranks only; where any does, all throw alike. Returns
/// what the step returns. The step calls nothing of the transport that is collective.
template <class Step>
auto agreed(Transport& transport, Step step) {
  using Result = decltype(step());
  std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>> result{};
  std::string complaint;
  Need need;
  try {
    if constexpr (std::is_void_v<Result>) {
      step();
    } else {
      result.emplace(step());
    }
  } catch (const InputError& error) {
    complaint = error.what();
    need = error.need();
  }
  agree_on_input(transport, complaint, need);
  if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

/// All ranks pass named facts (model digest, schedule digest, seed, build …). Throws the same
/// InputError on every rank where one differs: what differs, on which ranks.
void agree_on_facts(Transport& transport,
                    const std::vector<std::pair<std::string, std::string>>& facts);

}  // namespace hios::mpi
