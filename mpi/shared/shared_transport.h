#pragma once

#include <memory>
#include <string_view>

#include "mpi/transport.h"

namespace hios::mpi {

/// Added to the path() of `inner` where some messages go through shared memory.
inline constexpr std::string_view kThroughSharedMemory =
    ", tensors through memory that ranks share";

/// Makes a transport whose messages between ranks of one host go through memory that these share:
/// the sender copies a tensor to its outbox, and the receiver from there, each in its own calls.
/// It is for systems that do not permit MPI to copy a message once, out of the sender's memory
/// (CMA; containers often do not): MPI's own two copies go in small fragments, for which both ranks
/// must call MPI. Measured on two cores: RandWire 99 ms in place of 134, and 93 with CMA. Messages
/// that MPI sends at once (small ones), very large ones, those to other hosts, and all between
/// ranks that cannot open each other's memory go through `inner`, which outlives this object, as
/// does everything that is no message.
///
/// Buffers are host memory, and free as soon as their send has started. A receive advances in the
/// calls of its own channel, or of another in which this rank waits. Collective.
std::unique_ptr<Transport> make_shared_transport(Transport& inner);

}  // namespace hios::mpi
