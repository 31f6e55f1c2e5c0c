#pragma once

#include "hios/base/json/json_view.h"
#include "hios/platform/platform.h"

/// Files of the format `hios-platform` version 1 (docs/formats.md).
namespace hios {

/// Throws InputError with file and JSON path.
Platform platform_from_json(const JsonView& root);
Json to_json(const Platform& platform);

}  // namespace hios
