#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "mpi/transport.h"

/// Agreements: conditions that must hold alike on all ranks before a job goes on. All functions are
/// collective unless they take the ranks' values.
namespace hios::mpi {

/// Ends a step that may fail on some ranks: every rank calls this with the text and need of its
/// InputError, or empty. If any rank failed, all throw the same InputError: the first failing
/// rank's text and need, with its rank unless all ranks failed alike. So bad input never leaves a
/// rank waiting for another.
void agree_on_input(Transport& transport, const std::string& message, const Need& need = {});

/// Runs a step that may find bad input on some ranks only; if any does, all throw alike. Returns
/// the step's result. REQUIRES: the step makes no collective call of the transport.
template <class Step>
auto agreed(Transport& transport, Step step) {
  using Result = decltype(step());
  std::conditional_t<std::is_void_v<Result>, bool, std::optional<Result>> result{};
  std::string message;
  Need need;
  try {
    if constexpr (std::is_void_v<Result>) {
      step();
    } else {
      result.emplace(step());
    }
  } catch (const InputError& error) {
    message = error.what();
    need = error.need();
  }
  agree_on_input(transport, message, need);
  if constexpr (!std::is_void_v<Result>) return std::move(*result);
}

/// Compares named facts of all ranks (model digest, schedule digest, seed, build …). Throws the
/// same InputError on every rank if one differs, with its values by rank.
void agree_on_facts(Transport& transport,
                    const std::vector<std::pair<std::string, std::string>>& facts);

/// Describes a disagreement: the groups of ranks with equal values, "ranks 0 and 2 have A, rank 1
/// has B". Empty if all ranks have the same value.
std::string groups_text(const std::vector<std::optional<std::string>>& by_rank);

/// Combines the messages of all ranks (by rank; empty: none) to the message of the job. It is empty
/// if no rank has one, the text alone if all have the same, else the first with its rank.
std::string joint_message(const std::vector<std::string>& messages);

}  // namespace hios::mpi
