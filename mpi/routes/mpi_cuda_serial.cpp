#include "mpi/device/device_transport.h"

namespace hios::mpi {

bool mpi_says_cuda_aware() { return false; }

}  // namespace hios::mpi
