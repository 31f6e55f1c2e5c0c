#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "hios/base/files/descriptor.h"
#include "hios/base/ids.h"

namespace hios {

/// A file that is read past the page cache (O_DIRECT), so that its bytes come from the disk at each
/// time. Where the file system refuses that or is memory itself, its pages are read through the
/// cache, and direct() says so. Any thread may read; the other functions are for one.
class DirectFile {
 public:
  /// Offsets, sizes and addresses of direct reads are multiples of it: a page, which is a multiple
  /// of what any disk asks.
  static constexpr std::size_t kAlignment = 4096;

  /// Throws InputError: missing, unreadable, no regular file.
  explicit DirectFile(const std::filesystem::path& file);

  const std::string& name() const { return name_; }  ///< for messages
  Bytes size_bytes() const { return size_bytes_; }   ///< when it was opened
  bool direct() const { return direct_; }
  int descriptor() const { return descriptor_.get(); }  ///< for reads by a ReadQueue

  /// Reads `needed` bytes or more, at most `room`, to `to`. Throws RunError that names the file and
  /// the byte: the system fails, or the file ends before. REQUIRES: offset, room and address are
  /// multiples of kAlignment; needed <= room.
  void read(std::byte* to, Bytes offset, Bytes needed, Bytes room) const;

  /// Memory for a part of what is read.
  struct Place {
    std::byte* to = nullptr;
    Bytes room = 0;
  };
  /// Reads likewise, by one request, into two places one after the other.
  void read(const Place& first, const Place& second, Bytes offset, Bytes needed) const;

  /// Drops the file's pages from the cache, as far as the system does.
  void drop_cached() const;
  /// Returns the bytes of the file that the cache holds.
  Bytes cached_bytes() const;

 private:
  std::string name_;
  Descriptor descriptor_;
  Bytes size_bytes_ = 0;
  bool direct_ = true;
};

}  // namespace hios
