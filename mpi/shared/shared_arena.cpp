#include "mpi/shared/shared_arena.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include "hios/base/error.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

namespace hios::mpi {
namespace {

/// A rank's host, and the name of memory that it has made; empty: none.
struct Maker {
  std::string host, name;
  static auto fields(auto& self) { return std::tie(self.host, self.name); }
};

std::size_t first_of_host(const std::vector<Maker>& all, const std::string& host) {
  const auto first = std::ranges::find(all, host, &Maker::host);
  return static_cast<std::size_t>(first - all.begin());
}

/// Returns true if this rank can open the memory.
bool opens(const std::string& name, std::size_t size_bytes) {
  if (name.empty()) return false;
  try {
    const SharedMemory opened(name, size_bytes);
    return true;
  } catch (const RunError&) {
    return false;  // another process namespace, or another user
  }
}

/// Runs a step that may find too little memory on some ranks; then all throw RunError.
template <class Step>
void on_all_ranks(Transport& transport, Step step) {
  std::string failure;
  try {
    step();
  } catch (const RunError& error) {
    failure = error.what();
  }
  failure = joint_message(gather(transport, failure));
  if (!failure.empty()) throw RunError(failure);
}

}  // namespace

std::vector<std::size_t> memory_sharers(Transport& transport) {
  constexpr std::size_t kTried = 64;
  std::unique_ptr<SharedMemory> mine;
  try {
    mine = std::make_unique<SharedMemory>(kTried);
  } catch (const RunError&) {
    // Tensors are copied, then.
  }
  const std::vector<Maker> all =
      gather(transport, Maker{transport.host(), mine ? mine->name() : ""});
  const std::size_t me = transport.rank().index();
  const std::size_t first = first_of_host(all, all[me].host);
  const bool opened = first == me ? mine != nullptr : opens(all[first].name, kTried);
  // A rank may still be opening what another has made, until all have answered.
  return gather(transport, opened ? first : me);
}

std::unique_ptr<SharedMemory> open_shared_arena(Transport& transport,
                                                std::span<const std::size_t> sharers,
                                                Bytes size_bytes) {
  const std::size_t me = transport.rank().index();
  const bool shares =
      size_bytes > 0 && !sharers.empty() && std::ranges::count(sharers, sharers[me]) > 1;
  std::unique_ptr<SharedMemory> arena;
  on_all_ranks(transport, [&] {
    if (shares && sharers[me] == me) arena = std::make_unique<SharedMemory>(size_bytes);
  });
  const std::vector<std::string> names = gather(transport, arena ? arena->name() : std::string());
  on_all_ranks(transport, [&] {
    if (!shares || arena) return;
    arena =
        std::make_unique<SharedMemory>(names[sharers[me]], size_bytes, SharedMemory::Pages::kNow);
  });
  return arena;
}

}  // namespace hios::mpi
