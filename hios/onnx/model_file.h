#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "hios/base/files/descriptor.h"
#include "hios/base/files/file_io.h"
#include "hios/onnx/parse.h"
#include "hios/onnx/proto.h"
#include "hios/onnx/view.h"

namespace hios::onnx {

/// An ONNX file in memory, the values of its large weights in the file, and the folder of its
/// external data. Opens nothing outside that folder.
class ModelFile {
 public:
  /// Reads the file. Throws InputError with its name if it is not a regular file, is larger than
  /// `limits` or than its memory, is not ONNX, or has messages nested too deeply.
  ModelFile(const std::filesystem::path& file, const ReadLimits& limits);

  proto::ModelProto& model() { return *model_; }
  const std::string& name() const { return name_; }
  /// Returns true if the input is fp16. All of the file is then computed in fp32, and a Cast to
  /// fp16 changes nothing.
  bool widens_halves() const { return widens_halves_; }
  void set_widens_halves(bool widens) { widens_halves_ = widens; }

  /// Returns the values of a tensor, from the message (whose memory is freed), from the file or
  /// from external data. Throws InputError for a type that is not numeric, for sizes that
  /// contradict each other, and for external data that is missing, too short, no regular file or
  /// outside the folder, or where the values take more memory than there is.
  std::shared_ptr<const Constant> take(proto::TensorProto& tensor);

  /// Throws InputError where values take more memory than there is. `what` begins the message after
  /// the file's name.
  void require_memory(const std::string& what, Bytes needed) const;

  /// Throws InputError that names the file.
  [[noreturn]] void fail(const std::string& message) const;

 private:
  /// Reads the `expected` bytes of a tensor from external data into `room`, which is asked for once
  /// the data is known to be there.
  void read_external(const proto::TensorProto& tensor, std::size_t expected,
                     const std::function<std::span<char>()>& room);

  std::filesystem::path folder_;
  std::string name_;
  ReadLimits limits_;
  bool widens_halves_ = false;
  Bytes bytes_left_;  ///< bytes left of the limit, for external data
  std::unique_ptr<proto::ModelProto> model_;
  Descriptor file_;
  StoredTensors stored_;  ///< values that are still in the file
};

/// Returns the file of a tensor's external data, relative to the model's folder; empty: it has
/// none.
std::string location_of(const proto::TensorProto& tensor);
/// Returns the name of a tensor's element type ("FLOAT"), for messages.
std::string type_name(int type);
/// Returns the bytes of an element (1, 2, 4, 8); 0 for types that are not read.
std::size_t element_size(int type);
/// Returns how numbers of an element type are kept. REQUIRES: element_size(type) > 0.
Constant::Type type_of_element(int type);

}  // namespace hios::onnx
