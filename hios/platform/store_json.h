#pragma once

#include "hios/base/json/json_view.h"
#include "hios/platform/topology.h"

/// Stores in JSON: platform and schedule files have the same keys for them.
namespace hios {

/// Throws InputError with file and JSON path.
Store store_from_json(const JsonView& view);
Json store_json(const Store& store);

}  // namespace hios
