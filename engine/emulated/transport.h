#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "engine/emulated/emulation.h"
#include "mpi/transport.h"

namespace hios::emulated {

/// Returns the flow of a message from one rank to another, by its tag; nothing for one that takes
/// no time of its own.
using FlowOfMessage = std::function<std::optional<std::size_t>(int tag, Rank to)>;

/// Returns a transport whose messages arrive when their flows have ended. Everything else is as
/// `carrier` does it, which carries the digests themselves. Both arguments outlive it. It sleeps
/// where it waits, in collective calls until all ranks have come.
std::unique_ptr<mpi::Transport> make_transport(mpi::Transport& carrier, Emulation& emulation,
                                               FlowOfMessage flow_of);

}  // namespace hios::emulated
