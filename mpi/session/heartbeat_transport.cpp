#include "mpi/session/heartbeat_transport.h"

#include <cstdlib>

namespace hios::mpi {

class BeatingTransport::Beat {
 public:
  Beat(BeatingTransport& transport, const char* doing)
      : transport_(transport),
        before_(transport.doing_.exchange(doing, std::memory_order_relaxed)) {
    transport_.beats_.fetch_add(1, std::memory_order_relaxed);
  }
  ~Beat() {
    transport_.doing_.store(before_, std::memory_order_relaxed);
    transport_.beats_.fetch_add(1, std::memory_order_relaxed);
  }
  Beat(const Beat&) = delete;
  Beat& operator=(const Beat&) = delete;

 private:
  BeatingTransport& transport_;
  const char* before_;
};

void BeatingTransport::abort(int exit_code) {
  inner_.abort(exit_code);
  std::abort();  // never reached; the compiler does not see that a virtual function keeps its word
}

void BeatingTransport::barrier() {
  const Beat beat(*this, "waiting for the other ranks (barrier)");
  inner_.barrier();
}

std::vector<std::string> BeatingTransport::all_gather(const std::string& text) {
  const Beat beat(*this, "waiting for what every rank has to say (gather)");
  return inner_.all_gather(text);
}

std::string BeatingTransport::broadcast(const std::string& text) {
  const Beat beat(*this, "waiting for rank 0's word (broadcast)");
  return inner_.broadcast(text);
}

void BeatingTransport::all_reduce_max(std::span<double> values) {
  const Beat beat(*this, "waiting for the other ranks (maximum)");
  inner_.all_reduce_max(values);
}

}  // namespace hios::mpi
