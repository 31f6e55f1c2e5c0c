#pragma once

#include "hios/base/json/json_view.h"
#include "hios/platform/platform.h"

/// Devices in JSON: platform and schedule files have the same keys for them.
namespace hios {

/// The meaning of a device without "threads" or "streams".
enum class IfAbsent {
  kDefault,  ///< a CPU rank has one core, any other device none; one stream
  kRefused,  ///< an error
};

/// Reads a device's own keys. The caller may read more of the object, and ends it with finish().
/// Throws InputError with file and JSON path.
Device read_device(ObjectReader& reader, IfAbsent if_absent);
/// Leaves out values that equal their defaults, except cores and streams.
Json device_json(const Device& device);

}  // namespace hios
