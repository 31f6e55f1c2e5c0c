#include "mpi/messages/handles.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "hios/base/error.h"

namespace hios::mpi {
namespace {

/// Returns folder and file: the full path on the machine that compiled the file helps no user.
std::string_view short_file(std::string_view file) {
  const std::size_t name = file.rfind('/');
  if (name == std::string_view::npos || name == 0) return file;
  const std::size_t folder = file.rfind('/', name - 1);
  return folder == std::string_view::npos ? file : file.substr(folder + 1);
}

std::string text_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) {
    return "MPI error " + std::to_string(code);
  }
  // MPICH's messages have several lines.
  std::replace(text.begin(), text.end(), '\n', ' ');
  return std::string(text.data(), static_cast<std::size_t>(length));
}

}  // namespace

void throw_mpi_error(int code, const char* call, const std::string& purpose,
                     std::source_location where) {
  std::string text = purpose.empty() ? std::string() : purpose + ": ";
  text += std::string(call) + " failed at " + std::string(short_file(where.file_name())) + ":" +
          std::to_string(where.line()) + ": " + text_of(code);
  throw RunError(text);
}

}  // namespace hios::mpi
