#include "mpi/messages/serial.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "hios/base/error.h"

namespace hios::mpi {
namespace {

/// The channel of a plan without messages.
class EmptyChannel final : public Channel {
 public:
  void start_receives() override {}
  void start_send(std::size_t) override {}
  void await_receive(std::size_t) override {}
  void await_send(std::size_t) override {}
  bool received(std::size_t) override { return true; }
  bool sent(std::size_t) override { return true; }
  void poll() override {}
  void finish() override {}
  bool finished() override { return true; }
};

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

class SerialTransport final : public Transport {
 public:
  Rank rank() const override { return Rank(0); }
  std::size_t size() const override { return 1; }
  std::size_t local_rank() const override { return 0; }
  std::size_t local_size() const override { return 1; }
  const std::string& host() const override { return host_; }
  std::string path() const override { return "one rank, no transfers"; }
  bool claims_device_memory() const override { return false; }

  void barrier() override {}
  std::vector<std::string> all_gather(const std::string& text) override { return {text}; }
  std::string broadcast(const std::string& text) override { return text; }
  void all_reduce_max(std::span<double>) override {}

  std::unique_ptr<Channel> open_channel(std::span<const Message> sends,
                                        std::span<const Message> receives) override {
    if (!sends.empty() || !receives.empty()) {
      throw RunError("a job of one rank cannot exchange " +
                     std::to_string(sends.size() + receives.size()) + " messages");
    }
    return std::make_unique<EmptyChannel>();
  }

  void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  std::string host_ = host_name();
};

}  // namespace

std::unique_ptr<Transport> make_serial_transport() { return std::make_unique<SerialTransport>(); }

}  // namespace hios::mpi
