#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace hios::mpi {

/// The bytes that a TCP connection of this process has carried.
struct TcpTraffic {
  std::string interface;    ///< of its own end: "eth0"; empty if no interface has that address
  std::uint64_t bytes = 0;  ///< sent and acknowledged, and received
};

/// Returns the open TCP connections of this process by their file descriptors. Never throws but for
/// memory: what the system does not tell is left out.
std::map<int, TcpTraffic> tcp_traffic();

/// Returns the interfaces over which at least a tenth of `moved_bytes` has travelled between two
/// counts; empty if all connections together carried less than half: then the bytes went another
/// way.
std::set<std::string> interfaces_between(const std::map<int, TcpTraffic>& before,
                                         const std::map<int, TcpTraffic>& after,
                                         std::uint64_t moved_bytes);

}  // namespace hios::mpi
