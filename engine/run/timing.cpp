#include "engine/run/timing.h"

namespace hios {

Json Protocol::json() const {
  return {{"warmup", warmup}, {"iterations", iterations}, {"duration_s", duration_s}};
}

std::vector<double> measure(mpi::Transport& transport, const Protocol& protocol,
                            const std::function<double()>& once) {
  const auto run = [&] {
    transport.barrier();
    double ms = once();
    transport.all_reduce_max({&ms, 1});
    return ms;
  };
  for (int i = 0; i < protocol.warmup; ++i) run();

  // The maxima are the same on every rank, and so is the moment at which their sum suffices: ranks
  // stop together without a word.
  std::vector<double> latencies;
  latencies.reserve(static_cast<std::size_t>(protocol.iterations));
  double measured_ms = 0;
  while (latencies.size() < static_cast<std::size_t>(protocol.iterations) ||
         measured_ms < protocol.duration_s * 1000) {
    latencies.push_back(run());
    measured_ms += latencies.back();
  }
  return latencies;
}

}  // namespace hios
