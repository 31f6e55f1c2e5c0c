// Ranks read their accounts at about the same time, and before any of them allocates tensors. Where
// ranks read different numbers of one account, the largest counts, so that nothing is refused that
// fits. Control groups are accounts of their own: ranks in different containers share the machine,
// not each other's limit. Tests: tests/engine/job/ranks/host_memory_test.cpp.
#include "engine/job/ranks/host_memory.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "hios/base/size_text.h"
#include "mpi/exchange.h"

namespace hios::job {
namespace {

/// Returns the bytes that the rank must get from the system.
Bytes asked_by(const RankMemory& rank) {
  return rank.need.size_bytes - std::min(rank.need.size_bytes, rank.available.held);
}

/// An account, and the ranks whose allocations are charged to it.
struct Charged {
  std::string name;
  Bytes left = 0;
  std::vector<std::size_t> ranks;
  bool own = false;
};

std::vector<Charged> charged_accounts(const std::vector<RankMemory>& ranks) {
  std::map<std::tuple<std::string, std::string, std::uint64_t>, Charged> shared;
  std::vector<Charged> accounts;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const MemoryAccount& account : ranks[r].available.own)
      accounts.push_back({account.name, account.left, {r}, true});
    for (const MemoryAccount& account : ranks[r].available.shared) {
      Charged& charged = shared[{ranks[r].host, account.name, account.id}];
      charged.name = account.name;
      charged.left = std::max(charged.left, account.left);
      charged.ranks.push_back(r);
    }
  }
  for (auto& [key, charged] : shared) accounts.push_back(std::move(charged));
  return accounts;
}

Bytes asked_of(const Charged& account, const std::vector<RankMemory>& ranks) {
  Bytes sum = 0;
  for (const std::size_t rank : account.ranks) sum += asked_by(ranks[rank]);
  return sum;
}

std::string largest_text(const Charged& account, const std::vector<RankMemory>& ranks) {
  std::vector<NeededTensor> largest;
  for (const std::size_t rank : account.ranks) {
    const auto& of_rank = ranks[rank].need.largest;
    largest.insert(largest.end(), of_rank.begin(), of_rank.end());
  }
  keep_largest(largest);
  std::string text;
  for (const NeededTensor& tensor : largest) {
    text += (text.empty() ? "" : ", ") + tensor.name + " " + size_text(tensor.size_bytes) +
            (tensor.shape.empty() ? "" : " (" + tensor.shape + ")");
  }
  return text;
}

/// Returns "host a (2 ranks)"; of a process's own limit, "rank 1 on host a".
std::string who(const Charged& account, const std::vector<RankMemory>& ranks) {
  const std::string host = "host " + ranks[account.ranks.front()].host;
  if (account.own) return "rank " + std::to_string(account.ranks.front()) + " on " + host;
  const std::size_t count = account.ranks.size();
  return host + " (" + std::to_string(count) + (count == 1 ? " rank)" : " ranks)");
}

}  // namespace

void require_host_memory(const std::string& network, const std::vector<RankMemory>& ranks,
                         bool many_inferences) {
  const std::vector<Charged> accounts = charged_accounts(ranks);
  const Charged* short_of = nullptr;
  Bytes most = 0;
  for (const Charged& account : accounts) {
    const Bytes asked = asked_of(account, ranks);
    if (asked <= account.left || asked - account.left <= most) continue;
    most = asked - account.left;
    short_of = &account;
  }
  if (!short_of) return;
  Bytes needed = 0;
  for (const std::size_t rank : short_of->ranks) needed += ranks[rank].need.size_bytes;
  throw InputError(network + " needs at least " + size_text(needed) + " on " +
                       who(*short_of, ranks) + ", where " + size_text(short_of->left) +
                       " are available (" + short_of->name + "); the largest tensors are " +
                       largest_text(*short_of, ranks),
                   need::HostMemory{.many_inferences = many_inferences,
                                    .several_ranks = short_of->ranks.size() > 1,
                                    .own_limit = short_of->own});
}

void agree_on_host_memory(mpi::Transport& transport, const std::string& network,
                          const HostNeed& mine, const AvailableMemory& available,
                          bool many_inferences) {
  require_host_memory(network,
                      mpi::gather(transport, RankMemory{transport.host(), mine, available}),
                      many_inferences);
}

std::optional<Bytes> share_of_memory(const std::vector<RankMemory>& ranks, Rank rank) {
  std::optional<Bytes> least;
  for (const Charged& account : charged_accounts(ranks)) {
    if (std::ranges::count(account.ranks, rank.index()) == 0) continue;
    const Bytes share = account.left / account.ranks.size() + ranks[rank.index()].available.held;
    least = std::min(least.value_or(share), share);
  }
  return least;
}

std::optional<Bytes> share_of_memory(mpi::Transport& transport, const AvailableMemory& available) {
  return share_of_memory(mpi::gather(transport, RankMemory{transport.host(), {}, available}),
                         transport.rank());
}

}  // namespace hios::job
