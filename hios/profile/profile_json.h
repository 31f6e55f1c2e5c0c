#pragma once

#include "hios/base/json/json_view.h"
#include "hios/profile/profile.h"

/// Files of the format `hios-profile` version 1 (docs/formats.md).
namespace hios {

/// Throws InputError with file and JSON path.
Profile profile_from_json(const JsonView& root);
Json to_json(const Profile& profile);

}  // namespace hios
