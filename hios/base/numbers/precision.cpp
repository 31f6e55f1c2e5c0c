#include "hios/base/numbers/precision.h"

#include <nlohmann/json.hpp>
#include <string>

#include "hios/base/error.h"
#include "hios/base/nearest_name.h"

namespace hios {

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::kTf32:
      return "tf32";
    case Precision::kFp16:
      return "fp16";
    case Precision::kFp32:
      break;
  }
  return "fp32";
}

Precision parse_precision(std::string_view text) {
  std::string known;
  std::vector<std::string_view> names;
  for (const Precision precision : kPrecisions) {
    if (text == to_string(precision)) return precision;
    known += (known.empty() ? "" : ", ") + std::string(to_string(precision));
    names.push_back(to_string(precision));
  }
  throw InputError("no arithmetic is called '" + printable(text) + "'; there are " + known +
                   did_you_mean(text, names));
}

Precision read_precision(const JsonView& view) {
  try {
    return parse_precision(view.string());
  } catch (const InputError& error) {
    view.fail(error.what());
  }
}

void to_json(Json& json, Precision precision) { json = to_string(precision); }

void from_json(const Json& json, Precision& precision) {
  precision = parse_precision(json.get_ref<const std::string&>());
}

}  // namespace hios
