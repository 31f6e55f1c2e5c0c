#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/cold/read_ahead.h"
#include "hios/base/files/direct_file.h"
#include "hios/base/files/file_io.h"
#include "hios/base/json/json.h"

/// Files of parameters in the layouts that a backend computes with, so that loading is reading. A
/// safetensors file of bytes (U8): its metadata have the backend, its library and instructions, and
/// a digest of each part. Parts are found by their digest: equal parameters are one part, whatever
/// operators read them, and a part of other values or of another layout is not found. Large parts
/// begin on a page of the file; what fills the gaps has no digest.
namespace hios {

/// More parts than any backend has of an operator: weights and bias in a few layouts.
inline constexpr std::size_t kMostPartsOfOperator = 16;

/// Parameters in memory, in one of the layouts of their operator.
struct ParameterPart {
  std::string name;  ///< "conv_1.0"
  std::span<const std::byte> bytes;
};

/// Returns the file of packed parameters that belongs to a file of weights: next to it.
std::filesystem::path packed_file_of(const std::filesystem::path& weights);

/// Writes the parts in their order, equal ones once. `backend`: Backend::describe(). Throws as
/// write_text() does.
void write_packed(const std::filesystem::path& file, const Json& backend,
                  std::span<const ParameterPart> parts, Existing existing);

/// A file of packed parameters, open for reading. Immutable; any thread may use it.
class PackedParameters {
 public:
  /// `backend`: Backend::describe() of whoever will compute; `most_parts`: the parts that it may
  /// have. Throws InputError that names the file, with need::PackedWeights: it is missing, is none,
  /// or was packed by another backend, library or for other instructions.
  PackedParameters(const std::filesystem::path& file, const Json& backend, std::size_t most_parts,
                   const ReadLimits& limits);

  /// Returns where the file holds these bytes. Throws InputError with need::PackedWeights where it
  /// does not: `what` names them: "conv_1".
  Stretch find(std::span<const std::byte> bytes, const std::string& what) const;

  const DirectFile& file() const { return file_; }

 private:
  void open(const Json& backend, std::size_t most_parts, const ReadLimits& limits);
  void read(const Json& backend, std::size_t most_parts, const ReadLimits& limits);

  DirectFile file_;
  std::map<std::pair<std::string, Bytes>, Bytes> offsets_;  // by digest and size
};

}  // namespace hios
