#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "engine/backend/backend.h"

/// The table of backends.
namespace hios {

struct BackendEntry {
  std::string_view name;
  std::string_view description;
  std::string_view kind;
  std::unique_ptr<Backend> (*make)(const BackendOptions&);  ///< nullptr: not in this build
  std::string_view missing;                                 ///< why not, and how to get it
  std::string_view instead;                                 ///< the backend that does meanwhile
  std::span<const Precision> precisions;                    ///< the arithmetics it has
  bool has(Precision precision) const;
};

/// In order of preference for "auto" (the first that this build has).
std::span<const BackendEntry> backends();
/// By name, "auto" included. Throws InputError: unknown name (lists them), or not in this build
/// (why). `table`: those of this build, or a table of one's own.
const BackendEntry& find_backend(std::string_view name,
                                 std::span<const BackendEntry> table = backends());

}  // namespace hios
