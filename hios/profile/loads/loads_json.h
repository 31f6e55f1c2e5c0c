#pragma once

#include "hios/base/json/json_view.h"
#include "hios/profile/profile.h"

/// The measurements for cold starts in a configuration of a profile.
namespace hios {

/// Reads the members "loads" and "in_place", where they are. Throws InputError with the JSON path.
void read_cold_start(ObjectReader& reader, Configuration& into);

/// Adds both members to the configuration's object, where something was measured.
void write_cold_start(const Configuration& configuration, Json& json);

}  // namespace hios
