#pragma once

#include <unistd.h>

#include <utility>

namespace hios {

/// A file descriptor, closed at the end; negative: none.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }

  int get() const { return value_; }
  bool is_open() const { return value_ >= 0; }
  /// Closes now; false where the system reports a late write error.
  bool close() { return value_ < 0 || ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

}  // namespace hios
