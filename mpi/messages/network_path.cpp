// Tests: tests/network (two hosts of one machine), tests/mpi/messages/tcp_traffic_test.cpp.
#include "mpi/messages/network_path.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "mpi/messages/communicator.h"
#include "mpi/messages/mpi_settings.h"
#include "mpi/messages/tcp_traffic.h"

namespace hios::mpi {
namespace {

constexpr int kFirst = 64 * 1024;  // opens the connection
constexpr int kShort = 1024 * 1024;
constexpr int kLong = 4 * kShort;
constexpr double kFastSeconds = 0.02;  // the short message of a network that is worth longer ones

/// The rate and the bytes that this rank has measured.
struct NetworkSample {
  double bytes_per_s = std::numeric_limits<double>::infinity();  // of its own messages
  std::uint64_t moved_bytes = 0;
};

/// Messages between two ranks, one of which sends.
class Pair {
 public:
  Pair(MPI_Comm heads, int peer, bool sends) : heads_(heads), peer_(peer), sends_(sends) {}

  /// Sends or receives a message and its answer; returns the seconds until the answer.
  double exchange(int size_bytes) {
    bytes_.resize(std::max(bytes_.size(), static_cast<std::size_t>(size_bytes)));
    moved_bytes_ += static_cast<std::uint64_t>(size_bytes);
    const double start_s = MPI_Wtime();
    pass(bytes_.data(), size_bytes, sends_);
    pass(nullptr, 0, !sends_);
    return MPI_Wtime() - start_s;
  }

  /// Returns the sender's decision on both.
  bool agree(bool decision) {
    int value = decision;
    pass(&value, sizeof value, sends_);
    return value != 0;
  }

  std::uint64_t moved_bytes() const { return moved_bytes_; }

 private:
  void pass(void* bytes, int size_bytes, bool send) {
    if (send) {
      HIOS_MPI(MPI_Send(bytes, size_bytes, MPI_BYTE, peer_, 0, heads_));
    } else {
      HIOS_MPI(MPI_Recv(bytes, size_bytes, MPI_BYTE, peer_, 0, heads_, MPI_STATUS_IGNORE));
    }
  }

  MPI_Comm heads_;
  int peer_;
  bool sends_;
  std::vector<char> bytes_;
  std::uint64_t moved_bytes_ = 0;
};

void measure_pair(MPI_Comm heads, int peer, bool sends, NetworkSample& sample) {
  Pair pair(heads, peer, sends);
  pair.exchange(kFirst);
  double seconds = pair.exchange(kShort);
  double bytes_per_s = kShort / seconds;
  for (int i = 0; i < 3 && pair.agree(seconds < kFastSeconds); ++i) {
    seconds = pair.exchange(kLong) * kShort / kLong;
    bytes_per_s = std::max(bytes_per_s, kShort / seconds);
  }
  if (sends) sample.bytes_per_s = bytes_per_s;
  sample.moved_bytes += pair.moved_bytes();
}

/// Each head sends to the next, the even ones first, so that no two share a host's link.
NetworkSample measure(MPI_Comm heads) {
  int head = 0, size = 0;
  HIOS_MPI(MPI_Comm_rank(heads, &head));
  HIOS_MPI(MPI_Comm_size(heads, &size));
  NetworkSample sample;
  for (const int parity : {0, 1}) {
    if (head % 2 == parity) {
      if (head + 1 < size) measure_pair(heads, head + 1, /*sends=*/true, sample);
    } else if (head > 0) {
      measure_pair(heads, head - 1, /*sends=*/false, sample);
    }
  }
  return sample;
}

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " and ") + name;
  return text;
}

/// Returns the way of messages that no TCP connection carries; empty: unknown.
std::string other_way() {
  using Sign = std::pair<const char*, const char*>;
  for (const auto& [variable, name] : {Sign{"pml_ucx_priority", "UCX"},
                                       {"mtl_psm2_priority", "PSM2"},
                                       {"mtl_ofi_priority", "libfabric"},
                                       {"btl_openib_exclusivity", "InfiniBand verbs"}}) {
    if (has_mpi_setting(variable)) return name;
  }
  return {};
}

std::string rate_text(double bytes_per_s) {
  const double gb_per_s = bytes_per_s / 1e9;
  char text[32];
  std::snprintf(text, sizeof text, gb_per_s < 10 ? "%.2g GB/s" : "%.0f GB/s", gb_per_s);
  return text;
}

std::string describe_between(MPI_Comm heads) {
  const auto before = tcp_traffic();
  const NetworkSample sample = measure(heads);
  const auto interfaces = interfaces_between(before, tcp_traffic(), sample.moved_bytes);
  double slowest = sample.bytes_per_s;
  HIOS_MPI(MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MIN, heads));
  std::set<std::string> ways;
  for (const std::string& own : all_gather_text(heads, joined(interfaces))) ways.insert(own);
  std::string way = other_way();
  if (!ways.contains("")) {
    way = "TCP over " + (ways.size() > 3 ? "interfaces of several names" : joined(ways));
  }
  return (way.empty() ? "" : way + ", ") + rate_text(slowest);
}

}  // namespace

std::string describe_network(MPI_Comm communicator, bool first_of_host) {
  UniqueCommunicator heads;
  HIOS_MPI(MPI_Comm_split(communicator, first_of_host ? 0 : MPI_UNDEFINED, 0, heads.out()));
  std::string text;
  if (first_of_host) {
    int size = 0;
    HIOS_MPI(MPI_Comm_size(heads.get(), &size));
    if (size > 1) text = describe_between(heads.get());
    heads.close();
  }
  return all_gather_text(communicator, text).front();
}

}  // namespace hios::mpi
