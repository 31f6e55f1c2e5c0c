#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "mpi/transport.h"

/// What all ranks must have alike, or know alike, before a job goes on. All is collective.
namespace hios::mpi {

/// Every rank calls this with what became of its own fallible step (its InputError's text and need,
/// or empty). If any rank failed, all throw the same InputError: the first failing rank's text and
/// need, with its rank where not all ranks failed alike. So bad input never leaves a rank waiting
/// for another.
void agree_on_input(Transport& transport, const std::string& message, const Need& need = {});

/// Runs a step that may find bad input on some ranks only; where any does, all throw alike. Returns
/// what the step returns. The step calls nothing of the transport that is collective.
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

/// All ranks pass named facts (model digest, schedule digest, seed, build …). Throws the same
/// InputError on every rank where one differs: what differs, on which ranks.
void agree_on_facts(Transport& transport,
                    const std::vector<std::pair<std::string, std::string>>& facts);

/// Empty where all ranks have the same value, else who has what: "ranks 0 and 2 have A, rank 1 has
/// B".
std::string camps_text(const std::vector<std::optional<std::string>>& by_rank);

/// What a job says about the messages of its ranks (by rank; empty: none): empty if no rank
/// complained, the text alone if all said the same, else the first message with its rank.
std::string joint_message(const std::vector<std::string>& messages);

}  // namespace hios::mpi
