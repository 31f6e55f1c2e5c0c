#pragma once

#include <memory>

#include "mpi/transport.h"

namespace hios::mpi {

/// Makes the transport of a job of one rank, without MPI. Nothing can be sent on it.
std::unique_ptr<Transport> make_serial_transport();

}  // namespace hios::mpi
