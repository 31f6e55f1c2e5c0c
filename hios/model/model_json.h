#pragma once

#include <cstdint>
#include <optional>

#include "hios/base/json/json_view.h"
#include "hios/model/model.h"

/// Files of the format `hios-model` version 1 (docs/formats.md).
namespace hios {

/// Writes a Model out. Reading it back gives an equal Model, but for the convolutions that a wide
/// one is made of (Layer::merged), which are not written.
Json to_json(const Model& model);

/// Reads a Model. `batch`, `height` and `width` replace those of the file's input where given.
/// Throws InputError with file and JSON path.
Model model_from_json(const JsonView& root, std::optional<std::int64_t> batch = {},
                      std::optional<std::int64_t> height = {},
                      std::optional<std::int64_t> width = {});

}  // namespace hios
