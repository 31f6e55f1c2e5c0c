#include "mpi/session/heartbeat_transport.h"

#include <cstdlib>

namespace hios::mpi {

namespace {

enum Call : std::size_t { kBarrier, kGather, kBroadcast, kMaximum };
constexpr const char* kWords[] = {
    "waiting for the other ranks (barrier)", "waiting for every rank's value (gather)",
    "waiting for rank 0's value (broadcast)", "waiting for the other ranks (maximum)"};

}  // namespace

class HeartbeatTransport::Heartbeat {
 public:
  Heartbeat(HeartbeatTransport& transport, Call call)
      : transport_(transport),
        before_(transport.doing_.exchange(kWords[call], std::memory_order_relaxed)),
        call_(call) {
    transport_.heartbeats_.fetch_add(1, std::memory_order_relaxed);
    note(flight::EventKind::kCollective);
  }
  ~Heartbeat() {
    note(flight::EventKind::kCollectiveEnd);
    transport_.doing_.store(before_, std::memory_order_relaxed);
    transport_.heartbeats_.fetch_add(1, std::memory_order_relaxed);
  }
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  void note(flight::EventKind kind) {
    if (transport_.recorder_) transport_.recorder_->note(kind, transport_.calls_.at(call_));
  }

  HeartbeatTransport& transport_;
  const char* before_;
  Call call_;
};

HeartbeatTransport::HeartbeatTransport(Transport& inner, flight::Recorder* recorder)
    : inner_(inner), recorder_(recorder) {
  if (!recorder_) return;
  std::vector<flight::Subject> calls;
  for (const char* const words : kWords) calls.push_back({words});
  calls_ = flight::Recorder::Subjects(recorder_, calls);
}

void HeartbeatTransport::abort(int exit_code) {
  inner_.abort(exit_code);
  std::abort();  // never reached; the compiler does not see that a virtual function does not return
}

void HeartbeatTransport::barrier() {
  const Heartbeat heartbeat(*this, kBarrier);
  inner_.barrier();
}

std::vector<std::string> HeartbeatTransport::all_gather(const std::string& text) {
  const Heartbeat heartbeat(*this, kGather);
  return inner_.all_gather(text);
}

std::string HeartbeatTransport::broadcast(const std::string& text) {
  const Heartbeat heartbeat(*this, kBroadcast);
  return inner_.broadcast(text);
}

void HeartbeatTransport::all_reduce_max(std::span<double> values) {
  const Heartbeat heartbeat(*this, kMaximum);
  inner_.all_reduce_max(values);
}

}  // namespace hios::mpi
