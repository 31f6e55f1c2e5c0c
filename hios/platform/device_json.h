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

/// Reads a device's own keys, of a file of this version; the caller may read more of the object,
/// and ends it (finish()). Throws InputError with file and JSON path.
Device read_device(ObjectReader& reader, Unsaid unsaid, int version);
/// What has its default is left out, except cores and streams.
Json device_json(const Device& device);
/// The least version of a file that can say what is said of the device.
int device_version(const Device& device);

}  // namespace hios
