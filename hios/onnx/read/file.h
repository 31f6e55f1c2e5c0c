#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "hios/base/json/json_io.h"
#include "hios/onnx/proto.h"
#include "hios/onnx/view.h"

namespace hios::onnx {

/// An ONNX file, read whole, and the folder in which its external data may lie. Nothing outside
/// that folder is opened.
class ModelFile {
 public:
  /// Throws InputError with the file's name: not a regular file, larger than `limits`, not ONNX,
  /// messages nested too deep.
  ModelFile(const std::filesystem::path& file, const ReadLimits& limits);

  proto::ModelProto& model() { return *model_; }
  const std::string& name() const { return name_; }
  /// True if the file computes with halves, which are widened: rounding to them means nothing here.
  bool widens_halves() const { return widens_halves_; }
  void set_widens_halves(bool widens) { widens_halves_ = widens; }

  /// The values of a tensor, here or in external data; what the message held is released. Throws
  /// InputError: a type that is none of numbers, sizes that contradict each other, external data
  /// that is missing, too short, no regular file or outside the folder.
  std::shared_ptr<const Constant> take(proto::TensorProto& tensor);

  [[noreturn]] void fail(const std::string& message) const;

 private:
  std::string external(const proto::TensorProto& tensor, std::size_t expected);

  std::filesystem::path folder_;
  std::string name_;
  bool widens_halves_ = false;
  Bytes left_;  ///< of the limit, for external data
  std::unique_ptr<proto::ModelProto> model_;
};

/// "FLOAT", for messages.
std::string type_name(int type);
/// 2, 4, 8, …; 0: no type of numbers that is known here.
std::size_t element_size(int type);

}  // namespace hios::onnx
