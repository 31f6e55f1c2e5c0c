#include "mpi/shared/shared_transport.h"

#include <sched.h>

#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hios/base/error.h"
#include "mpi/exchange.h"
#include "mpi/shared/shared_channel.h"

namespace hios::mpi {
namespace {

/// A wait that yields its core gives it to others for a whole slice, so ranks with cores of their
/// own do so only after some milliseconds.
constexpr int kSpinsWithOwnCore = 20'000, kSpinsOnSharedCores = 20;

/// A rank's host, the name of its outbox (empty: it has none), and the cores that it may use.
struct Address {
  std::string host, name;
  std::vector<std::size_t> cores;
  static auto fields(auto& self) { return std::tie(self.host, self.name, self.cores); }
};

std::vector<std::size_t> cores_of_rank() {
  std::vector<std::size_t> cores;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

/// Returns true if the ranks of my host may use as many cores as they are.
bool have_cores(const std::vector<Address>& all, const std::string& host) {
  std::set<std::size_t> cores;
  std::size_t ranks = 0;
  for (const Address& each : all) {
    if (each.host != host) continue;
    ++ranks;
    cores.insert(each.cores.begin(), each.cores.end());
  }
  return cores.size() >= ranks;
}

/// Makes this rank's outbox, and opens those of the host's other ranks, as far as the system lets
/// them. Collective.
std::shared_ptr<Outboxes> open_outboxes(Transport& inner) {
  auto outboxes = std::make_shared<Outboxes>();
  try {
    outboxes->mine = std::make_unique<Outbox>();
  } catch (const RunError&) {
    // MPI has a way of its own.
  }
  const std::string name = outboxes->mine ? outboxes->mine->name() : "";
  const std::vector<Address> all = gather(inner, Address{inner.host(), name, cores_of_rank()});
  const std::size_t me = inner.rank().index();
  std::vector<bool> opened(all.size(), false);
  outboxes->of.resize(all.size());
  outboxes->spins_before_yield =
      have_cores(all, inner.host()) ? kSpinsWithOwnCore : kSpinsOnSharedCores;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (rank == me || name.empty() || all[rank].name.empty()) continue;
    if (all[rank].host != all[me].host) continue;
    try {
      outboxes->of[rank] = std::make_unique<OpenedOutbox>(all[rank].name);
      opened[rank] = true;
    } catch (const RunError&) {
      // Another process namespace, or another user.
    }
  }
  const std::vector<std::vector<bool>> each = gather(inner, opened);
  for (std::size_t rank = 0; rank < each.size(); ++rank) {
    if (!each[rank][me]) outboxes->of[rank].reset();
  }
  return outboxes;
}

class SharedTransport final : public Transport {
 public:
  explicit SharedTransport(Transport& inner)
      : inner_(inner), outboxes_(open_outboxes(inner)), path_(path_of(inner)) {}

  Rank rank() const override { return inner_.rank(); }
  std::size_t size() const override { return inner_.size(); }
  std::size_t local_rank() const override { return inner_.local_rank(); }
  std::size_t local_size() const override { return inner_.local_size(); }
  const std::string& host() const override { return inner_.host(); }
  std::string path() const override { return path_; }
  bool claims_device_memory() const override { return inner_.claims_device_memory(); }
  void barrier() override { inner_.barrier(); }
  std::vector<std::string> all_gather(const std::string& text) override {
    return inner_.all_gather(text);
  }
  std::string broadcast(const std::string& text) override { return inner_.broadcast(text); }
  void all_reduce_max(std::span<double> values) override { inner_.all_reduce_max(values); }
  std::unique_ptr<Channel> open_channel(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
    return open_shared_channel(inner_, outboxes_, sends, receives);
  }
  flight::Recorder* recorder() const override { return inner_.recorder(); }
  void abort(int exit_code) override {
    inner_.abort(exit_code);
    std::abort();  // never reached; the compiler does not see that a virtual function does not
                   // return
  }

 private:
  /// Collective.
  std::string path_of(Transport& inner) const {
    std::size_t mine = 0, all = 0;
    for (const auto& outbox : outboxes_->of) mine += outbox != nullptr ? 1 : 0;
    for (const std::size_t count : gather(inner, mine)) all += count;
    return inner.path() + std::string(all > 0 ? kThroughSharedMemory : "");
  }

  Transport& inner_;
  std::shared_ptr<Outboxes> outboxes_;
  const std::string path_;
};

}  // namespace

std::unique_ptr<Transport> make_shared_transport(Transport& inner) {
  return std::make_unique<SharedTransport>(inner);
}

}  // namespace hios::mpi
