#pragma once

// The generated classes, without the warnings of their code.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <onnx/onnx_pb.h>
#pragma GCC diagnostic pop

/// The protobuf classes of ONNX files, for this room only.
namespace hios::onnx {

namespace proto = ::onnx;

}  // namespace hios::onnx
