#pragma once

#include <memory>
#include <span>

#include "mpi/messages/handles.h"
#include "mpi/transport.h"

namespace hios::mpi {

/// Opens a Channel over persistent requests on `communicator`, which outlives it. Throws RunError,
/// also if a tag exceeds the limit of this MPI library (MPI promises 0 to 32767, most allow more).
std::unique_ptr<Channel> open_requests(MPI_Comm communicator, std::span<const Message> sends,
                                       std::span<const Message> receives);

/// Returns a committed type of `size_bytes` contiguous bytes, in blocks of `block_bytes` and a
/// remainder. MPI counts in int, so a message of more than INT_MAX bytes travels as one element of
/// such a type. REQUIRES: 0 < block_bytes <= INT_MAX, and at most INT_MAX blocks.
UniqueDatatype contiguous_bytes(Bytes size_bytes, Bytes block_bytes);

}  // namespace hios::mpi
