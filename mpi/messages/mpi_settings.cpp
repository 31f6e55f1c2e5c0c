// MPI's tool interface shows what the library decided at its start: settings by environment
// variables, files and the machine.
#include "mpi/messages/mpi_settings.h"

#include <array>

#include "mpi/messages/handles.h"

namespace hios::mpi {
namespace {

/// MPI's tool interface, open during the lifetime of this object.
class ToolSession {
 public:
  ToolSession() {
    int provided = 0;
    open_ = MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
  }
  ToolSession(const ToolSession&) = delete;
  ToolSession& operator=(const ToolSession&) = delete;
  ~ToolSession() {
    if (open_) MPI_T_finalize();
  }
  bool open() const { return open_; }

 private:
  bool open_ = false;
};

std::string name_of(MPI_T_enum items, int value) {
  int number = 0, length = 0;
  if (MPI_T_enum_get_info(items, &number, nullptr, &length) != MPI_SUCCESS) return {};
  for (int i = 0; i < number; ++i) {
    std::array<char, 64> text{};
    int item = 0, text_length = static_cast<int>(text.size());
    if (MPI_T_enum_get_item(items, i, &item, text.data(), &text_length) != MPI_SUCCESS) continue;
    if (item == value) return text.data();
  }
  return {};
}

}  // namespace

std::optional<MpiSetting> mpi_setting(const char* name) {
  const ToolSession tools;
  int index = 0;
  if (!tools.open() || MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return {};

  int name_length = 0, description_length = 0, verbosity = 0, binding = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum items = MPI_T_ENUM_NULL;
  if (MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &items, nullptr,
                          &description_length, &binding, &scope) != MPI_SUCCESS ||
      type != MPI_INT) {
    return {};
  }
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int elements = 0;
  MpiSetting found;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &elements) != MPI_SUCCESS) return {};
  const bool read = elements == 1 && MPI_T_cvar_read(handle, &found.value) == MPI_SUCCESS;
  MPI_T_cvar_handle_free(&handle);
  if (!read) return {};
  if (items != MPI_T_ENUM_NULL) found.name = name_of(items, found.value);
  return found;
}

bool has_mpi_setting(const char* name) {
  const ToolSession tools;
  int index = 0;
  return tools.open() && MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS;
}

}  // namespace hios::mpi
