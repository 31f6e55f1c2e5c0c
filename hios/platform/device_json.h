#pragma once

#include "hios/base/json/json_io.h"
#include "hios/platform/platform.h"

/// A device in JSON, alike in the files of platforms and of schedules.
namespace hios {

/// What a file may leave unsaid of a device's cores and streams.
enum class Unsaid {
  kDefault,  ///< a CPU rank has one core, any other device none; one stream
  kRefused,
};

/// Reads a device's own keys. The caller may read more of the object, and ends it with finish().
/// Throws InputError with file and JSON path.
Device read_device(ObjectReader& reader, Unsaid unsaid);
/// What has its default is left out, except cores and streams.
Json device_json(const Device& device);

}  // namespace hios
