#pragma once

#include <array>

namespace hios::flight {

/// Moves a descriptor above 0, 1 and 2, which a process may have been started without: its prints
/// must not land there. −1 stays −1, and is returned where no other number is free.
int above_standard(int descriptor);

/// Closes all descriptors of the process but those in `kept`, of which −1 means none. Allocates
/// nothing, since memory may have run out.
void close_all_but(std::array<int, 4> kept);

}  // namespace hios::flight
