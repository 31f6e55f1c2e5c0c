#pragma once

#include <mpi.h>

#include <cstdint>
#include <source_location>
#include <string>
#include <utility>

/// Calls of MPI: every return code is checked, every handle has one owner. Only files that include
/// <mpi.h> include this one.
namespace hios::mpi {

/// Throws RunError with the call, its purpose (may be empty), its source location and MPI's own
/// message.
[[noreturn]] void throw_mpi_error(int code, const char* call, const std::string& purpose,
                                  std::source_location where = std::source_location::current());

/// The sole owner of an MPI handle. `Traits` has Handle, null(), release(Handle) and kCollective. A
/// handle whose release is collective is released by close() alone, because a destructor that runs
/// after an error would wait for ranks that never come. Such a handle then ends with the process.
template <class Traits>
class UniqueHandle {
 public:
  using Handle = typename Traits::Handle;

  UniqueHandle() = default;
  explicit UniqueHandle(Handle handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept
      : handle_(std::exchange(other.handle_, Traits::null())) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~UniqueHandle() {
    if constexpr (!Traits::kCollective) {
      if (handle_ != Traits::null()) Traits::release(&handle_);
    }
  }

  Handle get() const { return handle_; }
  /// Returns the address where an MPI call writes the new handle. REQUIRES: it holds none yet.
  Handle* out() { return &handle_; }

  /// Releases the handle. Throws RunError if that fails.
  void close() {
    if (handle_ == Traits::null()) return;
    if (const int code = Traits::release(&handle_); code != MPI_SUCCESS) {
      throw_mpi_error(code, Traits::kReleaseCall, "");
    }
  }

 private:
  Handle handle_ = Traits::null();
};

struct DatatypeTraits {
  using Handle = MPI_Datatype;
  static constexpr bool kCollective = false;
  static constexpr const char* kReleaseCall = "MPI_Type_free";
  static Handle null() { return MPI_DATATYPE_NULL; }
  static int release(Handle* handle) { return MPI_Type_free(handle); }
};

struct CommunicatorTraits {
  using Handle = MPI_Comm;
  static constexpr bool kCollective = true;
  static constexpr const char* kReleaseCall = "MPI_Comm_free";
  static Handle null() { return MPI_COMM_NULL; }
  static int release(Handle* handle) { return MPI_Comm_free(handle); }
};

using UniqueDatatype = UniqueHandle<DatatypeTraits>;
using UniqueCommunicator = UniqueHandle<CommunicatorTraits>;

}  // namespace hios::mpi

/// Makes the MPI call and throws RunError unless it succeeded.
#define HIOS_MPI(call)                                                   \
  do {                                                                   \
    const int hios_mpi_code = (call);                                    \
    if (hios_mpi_code != MPI_SUCCESS) {                                  \
      ::hios::mpi::throw_mpi_error(hios_mpi_code, #call, std::string()); \
    }                                                                    \
  } while (false)

/// The same with the purpose of the call; the text is built only if the call failed.
#define HIOS_MPI_FOR(call, purpose)                                  \
  do {                                                               \
    const int hios_mpi_code = (call);                                \
    if (hios_mpi_code != MPI_SUCCESS) {                              \
      ::hios::mpi::throw_mpi_error(hios_mpi_code, #call, (purpose)); \
    }                                                                \
  } while (false)
