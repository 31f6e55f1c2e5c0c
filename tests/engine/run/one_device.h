#pragma once

#include <memory>
#include <optional>

#include "engine/run/executor.h"
#include "engine/run/plan/plan.h"
#include "mpi/messages/serial.h"
#include "support/fakes/fake_accelerator.h"
#include "support/fakes/fake_async_backend.h"
#include "support/networks/random_network.h"

/// Executors on asynchronous fake devices.
namespace hios::test {

inline std::unique_ptr<FakeBackend> backend_on(FakeAccelerator* device, bool records) {
  if (device == nullptr) return std::make_unique<FakeBackend>(2);
  return std::make_unique<FakeAsyncBackend>(*device, records);
}

/// An executor on one rank, with a device of its own.
struct OneDevice {
  explicit OneDevice(const RandomNetwork& the_network, const Schedule& schedule,
                     const FakeOptions& options = {}, bool records = true, bool blocking = false,
                     std::optional<std::size_t> recordings_before_refusal = {})
      : network(the_network),
        plan(plan_rank(network.coarse, schedule, Rank(0))),
        device(options),
        backend(device, records, recordings_before_refusal),
        transport(mpi::make_serial_transport()),
        executor({network.coarse, network.model, backend, *transport, source}, plan,
                 {.blocking = blocking}) {}

  const RandomNetwork& network;
  RankPlan plan;
  FakeAccelerator device;
  FakeAsyncBackend backend;
  FakeSource source;
  std::unique_ptr<mpi::Transport> transport;
  Executor executor;
};

}  // namespace hios::test
