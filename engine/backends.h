#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/backend/backend.h"
#include "hios/model/layer_kernel.h"

/// The table of backends.
namespace hios {

struct BackendEntry {
  std::string_view name;
  std::string_view description;
  std::string_view kind;
  std::unique_ptr<Backend> (*make)(const BackendOptions&);  ///< nullptr: not in this build
  std::string_view missing;               ///< the reason why it is not in this build
  std::string_view instead;               ///< the backend to use in its stead
  std::span<const Precision> precisions;  ///< the precisions it computes with
  /// BackendOptions::instructions of this row's devices; empty: no cap.
  std::string_view instructions = {};
  /// Returns the identities of the devices that this process sees, in their order
  /// (Accelerator::identity); none where it cannot ask. Null: the backend is on no device.
  std::vector<std::string> (*visible_devices)() = nullptr;
  /// Returns their PCI addresses in any notation, in the same order. Null: none is known.
  std::vector<std::string> (*device_addresses)() = nullptr;
  bool has(Precision precision) const;
};

/// Returns the table, in order of preference for "auto" (the first that this build has).
std::span<const BackendEntry> backends();
/// Returns the backend of that name; "auto" is allowed. Throws InputError if the name is unknown
/// (it lists the known ones). Throws one with the reason, and a Need that names the backend to use
/// in its stead, if this build lacks the backend. `table` defaults to this build's.
const BackendEntry& find_backend(std::string_view name,
                                 std::span<const BackendEntry> table = backends());

/// Returns the reference backend's kernels, which compute the constants of files that are read.
LayerKernel layer_kernel();

/// Returns the environment variables, names and values, that a program of this build should have
/// before its first instruction. libgomp reads them when it is loaded, so a main sets the missing
/// ones and executes itself again.
std::span<const std::pair<std::string_view, std::string_view>> recommended_openmp_environment();

}  // namespace hios
