#pragma once

#include <array>
#include <string_view>

#include "hios/base/ids.h"
#include "hios/base/json/json_view.h"

/// The arithmetic that a device computes in. Files and flags call it "math" and use the names
/// below.
namespace hios {

/// An arithmetic. Each adds up in fp32 at least.
enum class Precision {
  kFp32,  ///< the default, which files leave out
  kTf32,  ///< inputs and weights of convolutions rounded to 10 bits of mantissa
  kFp16,  ///< tensors and weights are halves
};

inline constexpr std::array kPrecisions = {Precision::kFp32, Precision::kTf32, Precision::kFp16};

/// Returns "fp32", "tf32", "fp16".
std::string_view to_string(Precision precision);
/// Returns the precision of that name. Throws an InputError that lists the names.
Precision parse_precision(std::string_view text);
/// Parses a JSON value. Throws InputError with file and JSON path.
Precision read_precision(const JsonView& view);
void to_json(Json& json, Precision precision);
/// Throws an InputError without a path: for values that this program wrote itself.
void from_json(const Json& json, Precision& precision);

/// Returns the size of a tensor's element.
constexpr Bytes element_bytes(Precision precision) { return precision == Precision::kFp16 ? 2 : 4; }

}  // namespace hios
