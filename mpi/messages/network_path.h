#pragma once

#include <string>

#include "mpi/messages/handles.h"

namespace hios::mpi {

/// Describes the network between the hosts of `communicator`, for people, the same text on all
/// ranks: "TCP over eth0, 1.1 GB/s", the rate of the slowest of messages of up to 4 MB from the
/// first rank of each host to that of the next, in turn. It takes milliseconds, over a slow network
/// a second. Empty for ranks of one host. Collective; `first_of_host` is true for one rank of each
/// host, rank 0 among them.
std::string describe_network(MPI_Comm communicator, bool first_of_host);

}  // namespace hios::mpi
