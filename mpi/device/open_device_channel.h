#pragma once

#include <memory>
#include <span>

#include "mpi/accelerator.h"
#include "mpi/device/device_channel.h"
#include "mpi/routes/route_table.h"

namespace hios::mpi {

/// The ranks that throw if the opening of a channel fails on one of them: all, or that rank and
/// those with which it exchanges messages.
enum class Concerned { kAllRanks, kPeers };

/// Makes the endpoints of a channel by the route of each message, exchanges their offers with the
/// other side, and opens the channel. Collective among all ranks if a route of the table exchanges
/// offers; then a failure on one rank is a RunError on all whom it concerns. For the other
/// arguments see DeviceChannel.
std::unique_ptr<DeviceChannel> open_device_channel(Transport& inner, Accelerator* device,
                                                   const RouteTable& table, TagBook& tags,
                                                   std::shared_ptr<OpenChannels> siblings,
                                                   std::span<const Message> sends,
                                                   std::span<const Message> receives,
                                                   Concerned concerned = Concerned::kAllRanks);

}  // namespace hios::mpi
