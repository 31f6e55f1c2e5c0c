#include "mpi/session/heartbeat_transport.h"

#include <cstdlib>

namespace hios::mpi {

class HeartbeatTransport::Heartbeat {
 public:
  Heartbeat(HeartbeatTransport& transport, const char* doing)
      : transport_(transport),
        before_(transport.doing_.exchange(doing, std::memory_order_relaxed)) {
    transport_.heartbeats_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Heartbeat() {
    transport_.doing_.store(before_, std::memory_order_relaxed);
    transport_.heartbeats_.fetch_add(1, std::memory_order_relaxed);
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  HeartbeatTransport& transport_;
  const char* before_;
};

void HeartbeatTransport::abort(int exit_code) {
  inner_.abort(exit_code);
  std::abort();  // never reached; the compiler does not see that a virtual function does not return
}

void HeartbeatTransport::barrier() {
  const Heartbeat heartbeat(*this, "waiting for the other ranks (barrier)");
  inner_.barrier();
}

std::vector<std::string> HeartbeatTransport::all_gather(const std::string& text) {
  const Heartbeat heartbeat(*this, "waiting for what every rank sends (gather)");
  return inner_.all_gather(text);
}

std::string HeartbeatTransport::broadcast(const std::string& text) {
  const Heartbeat heartbeat(*this, "waiting for what rank 0 sends (broadcast)");
  return inner_.broadcast(text);
}

void HeartbeatTransport::all_reduce_max(std::span<double> values) {
  const Heartbeat heartbeat(*this, "waiting for the other ranks (maximum)");
  inner_.all_reduce_max(values);
}

}  // namespace hios::mpi
