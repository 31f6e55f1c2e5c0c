#pragma once

#include <string>

#include "hios/base/ids.h"

namespace hios {

/// Returns a size of memory for messages: "14.9 GiB"; below one, "213.4 MiB"; below that, bytes.
std::string size_text(Bytes size_bytes);

}  // namespace hios
