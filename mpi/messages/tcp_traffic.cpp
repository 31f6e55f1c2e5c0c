// The system counts the bytes of each connection (TCP_INFO), and MPI libraries open theirs in the
// process itself. So the connections whose counts have grown by the bytes of a message are those
// that carried it, whatever the library is called and however it was configured.
#include "mpi/messages/tcp_traffic.h"

#include <ifaddrs.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

namespace hios::mpi {
namespace {

/// Returns the bytes of an address, without its port; those of an IPv4 address in an IPv6 socket
/// are IPv4's. Empty for other kinds.
std::string_view address_bytes(const sockaddr* address) {
  if (!address) return {};
  if (address->sa_family == AF_INET) {
    const auto* const four = reinterpret_cast<const sockaddr_in*>(address);
    return {reinterpret_cast<const char*>(&four->sin_addr), sizeof four->sin_addr};
  }
  if (address->sa_family != AF_INET6) return {};
  const auto* const six = reinterpret_cast<const sockaddr_in6*>(address);
  const std::string_view all(reinterpret_cast<const char*>(&six->sin6_addr), sizeof six->sin6_addr);
  return IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) ? all.substr(12) : all;
}

std::map<std::string, std::string> interfaces_by_address() {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
  std::map<std::string, std::string> found;
  for (const ifaddrs* one = first; one; one = one->ifa_next) {
    const std::string address(address_bytes(one->ifa_addr));
    if (!address.empty()) found.emplace(address, one->ifa_name);
  }
  return found;
}

/// Returns the bytes of a connection; no value if the descriptor is none, or not connected.
std::optional<std::uint64_t> bytes_of(int descriptor) {
  sockaddr_storage peer{};
  socklen_t length = sizeof peer;
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) != 0) return {};
  tcp_info info{};
  length = sizeof info;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  return info.tcpi_bytes_acked + info.tcpi_bytes_received;
}

}  // namespace

std::map<int, TcpTraffic> tcp_traffic() {
  std::map<int, TcpTraffic> found;
  std::error_code failed;
  std::filesystem::directory_iterator all("/proc/self/fd", failed);
  if (failed) return found;
  const auto interfaces = interfaces_by_address();
  for (; all != std::filesystem::directory_iterator() && !failed; all.increment(failed)) {
    const std::string name = all->path().filename();
    int descriptor = 0;
    const char* const end = name.data() + name.size();
    if (std::from_chars(name.data(), end, descriptor).ptr != end) continue;
    const auto bytes = bytes_of(descriptor);
    if (!bytes) continue;
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    if (getsockname(descriptor, address, &length) != 0) continue;
    const auto interface = interfaces.find(std::string(address_bytes(address)));
    found[descriptor] = {interface == interfaces.end() ? "" : interface->second, *bytes};
  }
  return found;
}

std::set<std::string> interfaces_between(const std::map<int, TcpTraffic>& before,
                                         const std::map<int, TcpTraffic>& after,
                                         std::uint64_t moved_bytes) {
  std::map<std::string, std::uint64_t> grown;
  std::uint64_t sum = 0;
  for (const auto& [descriptor, traffic] : after) {
    const auto earlier = before.find(descriptor);
    const std::uint64_t old = earlier == before.end() ? 0 : earlier->second.bytes;
    if (traffic.bytes <= old) continue;
    grown[traffic.interface] += traffic.bytes - old;
    sum += traffic.bytes - old;
  }
  std::set<std::string> names;
  if (2 * sum < moved_bytes) return names;
  for (const auto& [name, bytes] : grown) {
    if (10 * bytes >= moved_bytes) names.insert(name.empty() ? "an unknown interface" : name);
  }
  return names;
}

}  // namespace hios::mpi
