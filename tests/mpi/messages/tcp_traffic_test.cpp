#include "mpi/messages/tcp_traffic.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>

namespace hios::mpi {
namespace {

/// Two ends of a TCP connection of this process over loopback.
class Loopback {
 public:
  Loopback() {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    first_ = ::socket(AF_INET, SOCK_STREAM, 0);
    ready_ = ::bind(listener, any, length) == 0 && ::listen(listener, 1) == 0 &&
             ::getsockname(listener, any, &length) == 0 && ::connect(first_, any, length) == 0;
    if (ready_) second_ = ::accept(listener, nullptr, nullptr);
    ::close(listener);
  }
  ~Loopback() {
    ::close(first_);
    if (second_ >= 0) ::close(second_);
  }
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  bool ready() const { return ready_ && second_ >= 0; }

  void carry(std::size_t size_bytes) {
    const std::string sent(size_bytes, 'x');
    std::thread sender([&] {
      for (std::size_t at = 0; at < sent.size();) {
        const ssize_t count = ::write(first_, sent.data() + at, sent.size() - at);
        if (count <= 0) return;
        at += static_cast<std::size_t>(count);
      }
    });
    std::string received(size_bytes, '\0');
    for (std::size_t at = 0; at < received.size();) {
      const ssize_t count = ::read(second_, received.data() + at, received.size() - at);
      if (count <= 0) break;
      at += static_cast<std::size_t>(count);
    }
    sender.join();
  }

 private:
  int first_ = -1, second_ = -1;
  bool ready_ = false;
};

TEST(TcpTraffic, AMessageIsSeenOnTheInterfaceThatCarriedIt) {
  Loopback used, idle;
  ASSERT_TRUE(used.ready());
  ASSERT_TRUE(idle.ready());
  const auto before = tcp_traffic();
  constexpr std::size_t kSize = 256 * 1024;
  used.carry(kSize);
  const auto after = tcp_traffic();
  EXPECT_EQ(interfaces_between(before, after, kSize), std::set<std::string>{"lo"});
  // Had eight times as much been sent, it would have gone another way.
  EXPECT_EQ(interfaces_between(before, after, 8 * kSize), std::set<std::string>{});
  EXPECT_EQ(interfaces_between(after, after, kSize), std::set<std::string>{});
}

TEST(TcpTraffic, SmallSharesOfOtherInterfacesAreLeftOut) {
  const std::map<int, TcpTraffic> before = {{3, {"eth0", 100}}, {4, {"eth1", 7}}};
  const std::map<int, TcpTraffic> after = {
      {3, {"eth0", 1000}}, {4, {"eth1", 50}}, {5, {"ib0", 300}}, {6, {"", 0}}};
  EXPECT_EQ(interfaces_between(before, after, 1000), (std::set<std::string>{"eth0", "ib0"}));
  EXPECT_EQ(interfaces_between(before, after, 400), (std::set<std::string>{"eth0", "eth1", "ib0"}));
}

}  // namespace
}  // namespace hios::mpi
