// A route of mpi/routes/route.h: both ends in host memory. The wrapped transport carries the
// message unchanged.
#include "mpi/routes/host_endpoint.h"
#include "mpi/routes/route.h"

namespace hios::mpi {
namespace {

std::unique_ptr<Endpoint> make_host_send(const EndpointContext& context, const Message& message) {
  HostMessages one;
  one.add(context.inner.add_send(message));
  return std::make_unique<HostSend>(context.inner, std::move(one));
}

std::unique_ptr<Endpoint> make_host_receive(const EndpointContext& context,
                                            const Message& message) {
  HostMessages one;
  one.add(context.inner.add_receive(message));
  return std::make_unique<HostReceive>(context.inner, std::move(one));
}

}  // namespace

Route host_route() {
  return {.name = "host",
          .description = "from host memory to host memory, as MPI carries it",
          .serves = {.hosts = true},
          .probed = false,
          .passes_through = true,
          .make_send = make_host_send,
          .make_receive = make_host_receive};
}

}  // namespace hios::mpi
