#pragma once

#include <optional>
#include <string>

namespace hios::mpi {

/// A control variable of the MPI library that is an integer or an enumeration.
struct MpiSetting {
  int value = 0;
  std::string name;  ///< the value's name if it is one of an enumeration
};

/// Returns the variable's setting; no value if this MPI has no such variable, which is no error, or
/// if it is of another type.
std::optional<MpiSetting> mpi_setting(const char* name);

/// Returns true if this MPI has a variable of this name, of any type. A part of Open MPI that is
/// not in use has no variables.
bool has_mpi_setting(const char* name);

}  // namespace hios::mpi
