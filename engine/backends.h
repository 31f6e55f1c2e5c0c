#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "engine/backend/backend.h"

/// The table of backends.
namespace hios {

struct BackendEntry {
  std::string_view name;
  std::string_view description;
  std::string_view kind;
  std::unique_ptr<Backend> (*make)(const BackendOptions&);  ///< nullptr: not in this build
  std::string_view missing;                                 ///< why not
  std::string_view instead;                                 ///< the backend that does meanwhile
  std::span<const Precision> precisions;                    ///< the arithmetics it has
  /// BackendOptions::instructions of this row's devices; empty: all that there are.
  std::string_view instructions = {};
  bool has(Precision precision) const;
};

/// In order of preference for "auto" (the first that this build has).
std::span<const BackendEntry> backends();
/// By name, "auto" included. Throws InputError: unknown name (lists them), or not in this build
/// (why, and a "left-out-backend" that names it and what does meanwhile). `table`: those of this
/// build, or a table of one's own.
const BackendEntry& find_backend(std::string_view name,
                                 std::span<const BackendEntry> table = backends());

/// What a program should have in its environment before its first instruction, for the backends of
/// this build: names and values. libgomp reads it when it is loaded, so a main sets what is missing
/// and executes itself again.
std::span<const std::pair<std::string_view, std::string_view>> recommended_openmp_environment();

}  // namespace hios
