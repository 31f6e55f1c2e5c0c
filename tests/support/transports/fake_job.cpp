#include "support/transports/fake_job.h"

#include <array>
#include <optional>

#include "support/fakes/fake_async_backend.h"
#include "support/message.h"
#include "support/transports/device_ranks.h"

namespace hios::test {

namespace {

constexpr std::array kAllPrecisions = {Precision::kFp32, Precision::kTf32, Precision::kFp16};

/// The arguments of the backends that this thread makes.
struct ThisRank {
  FakeAccelerator* device = nullptr;
  std::function<void(FakeBackend&)> on_make;
};
thread_local ThisRank this_rank;

std::unique_ptr<Backend> made(std::unique_ptr<FakeBackend> backend, const BackendOptions& options) {
  backend->arithmetic = options.precision;
  if (this_rank.on_make) this_rank.on_make(*backend);
  return backend;
}

std::unique_ptr<Backend> make_fake(const BackendOptions& options) {
  return made(std::make_unique<FakeBackend>(options.threads), options);
}

std::unique_ptr<Backend> make_fake_device(const BackendOptions& options) {
  return made(std::make_unique<FakeAsyncBackend>(*this_rank.device, options.graphs), options);
}

constexpr std::array kFakeBackends = {
    BackendEntry{"fake", "cores", "cpu", &make_fake, "", "", kAllPrecisions},
    BackendEntry{"fake-device", "a device", "gpu", &make_fake_device, "", "", kAllPrecisions},
};

}  // namespace

std::span<const BackendEntry> fake_backends() { return kFakeBackends; }

void run_fake_job(const FakeJob& job, const std::function<void(mpi::Transport&)>& body) {
  const auto machine = make_fake_machine();
  run_ranks(job.backends.size(), [&](mpi::Transport& plain) {
    const std::size_t rank = plain.rank().index();
    DeviceShy transport(plain, DeviceShy::Device::kRefused);
    FakeOptions options;
    options.seed = rank;
    options.identity = "FAKE-" + std::to_string(rank);
    std::optional<FakeAccelerator> device;
    if (job.backends[rank] == "fake-device") device.emplace(machine, options);
    this_rank.device = device ? &*device : nullptr;
    if (job.on_make) {
      this_rank.on_make = [&](FakeBackend& backend) { job.on_make(plain.rank(), backend); };
    }
    body(transport);
  });
}

std::vector<std::string> messages_of_ranks(const FakeJob& job,
                                           const std::function<void(mpi::Transport&)>& body) {
  std::vector<std::string> texts(job.backends.size());
  run_fake_job(job, [&](mpi::Transport& transport) {
    try {
      body(transport);
    } catch (const InputError& error) {
      texts[transport.rank().index()] = error.what();
    }
  });
  return texts;
}

void expect_refused_by_all(const std::vector<std::string>& messages, const std::string& part) {
  for (const std::string& text : messages) {
    expect_message(text, part);
    EXPECT_EQ(text, messages.front());
  }
}

}  // namespace hios::test
