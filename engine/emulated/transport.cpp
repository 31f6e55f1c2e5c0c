// The sender starts a message's flow, and both ends look at it: the sender's message has left, and
// the receiver's has arrived, once the digest is there and the flow has ended. A receiver may look
// only after the end, so it counts: in its n-th iteration it waits for the flow's n-th end.
#include "engine/emulated/transport.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace hios::emulated {
namespace {

/// A message's flow at one of its ends.
struct Awaited {
  std::optional<std::size_t> flow;
  std::uint64_t ends = 0;  ///< of the flow, once the message of this iteration has passed
};

class EmulatedChannel final : public mpi::Channel {
 public:
  EmulatedChannel(std::unique_ptr<mpi::Channel> carrier, Emulation& emulation,
                  std::vector<Awaited> sends, std::vector<Awaited> receives)
      : carrier_(std::move(carrier)),
        emulation_(emulation),
        sends_(std::move(sends)),
        receives_(std::move(receives)) {}

  void start_receives() override {
    if (emulation_.time_passes()) {
      for (Awaited& receive : receives_) ++receive.ends;
    }
    carrier_->start_receives();
  }

  void start_send(std::size_t send) override {
    if (sends_[send].flow && emulation_.time_passes()) {
      ++sends_[send].ends;
      emulation_.queue().start(*sends_[send].flow);
    }
    carrier_->start_send(send);
  }

  void await_receive(std::size_t receive) override {
    wait_until([&] { return received(receive); });
    carrier_->await_receive(receive);
  }
  void await_send(std::size_t send) override {
    wait_until([&] { return sent(send); });
    carrier_->await_send(send);
  }
  bool received(std::size_t receive) override {
    return passed(receives_[receive]) && carrier_->received(receive);
  }
  bool sent(std::size_t send) override { return passed(sends_[send]) && carrier_->sent(send); }

  void poll() override {
    emulation_.queue().advance();
    carrier_->poll();
  }
  void finish() override {
    wait_until([&] { return finished(); });
    carrier_->finish();
  }
  bool finished() override {
    for (const Awaited& send : sends_) {
      if (!passed(send)) return false;
    }
    for (const Awaited& receive : receives_) {
      if (!passed(receive)) return false;
    }
    return carrier_->finished();
  }
  void check() override { carrier_->check(); }
  bool abandon() noexcept override { return carrier_->abandon(); }
  void disconnect() override { carrier_->disconnect(); }

 private:
  bool passed(const Awaited& message) const {
    return !message.flow || emulation_.queue().ended(*message.flow) >= message.ends;
  }
  template <class Ended>
  void wait_until(Ended&& ended) {
    for (poll(); !ended(); poll()) emulation_.idle();
  }

  const std::unique_ptr<mpi::Channel> carrier_;
  Emulation& emulation_;
  std::vector<Awaited> sends_, receives_;
};

class EmulatedTransport final : public mpi::Transport {
 public:
  EmulatedTransport(mpi::Transport& carrier, Emulation& emulation, FlowOfMessage flow_of)
      : carrier_(carrier), emulation_(emulation), flow_of_(std::move(flow_of)) {}

  Rank rank() const override { return carrier_.rank(); }
  std::size_t size() const override { return carrier_.size(); }
  std::size_t local_rank() const override { return carrier_.local_rank(); }
  std::size_t local_size() const override { return carrier_.local_size(); }
  const std::string& host() const override { return carrier_.host(); }
  std::string path() const override { return "emulated buses"; }
  bool claims_device_memory() const override { return carrier_.claims_device_memory(); }
  void barrier() override {
    emulation_.meet();
    carrier_.barrier();
  }
  std::vector<std::string> all_gather(const std::string& text) override {
    emulation_.meet();
    return carrier_.all_gather(text);
  }
  std::string broadcast(const std::string& text) override {
    emulation_.meet();
    return carrier_.broadcast(text);
  }
  void all_reduce_max(std::span<double> values) override {
    emulation_.meet();
    carrier_.all_reduce_max(values);
  }
  flight::Recorder* recorder() const override { return carrier_.recorder(); }
  void abort(int exit_code) override { carrier_.abort(exit_code); }

  std::unique_ptr<mpi::Channel> open_channel(std::span<const mpi::Message> sends,
                                             std::span<const mpi::Message> receives) override {
    std::vector<Awaited> sent, received;
    for (const mpi::Message& message : sends) sent.push_back(awaited(message.tag, message.peer));
    for (const mpi::Message& message : receives) received.push_back(awaited(message.tag, rank()));
    auto channel = carrier_.open_channel(sends, receives);
    if (sends.empty() && receives.empty()) return channel;
    return std::make_unique<EmulatedChannel>(std::move(channel), emulation_, std::move(sent),
                                             std::move(received));
  }

 private:
  Awaited awaited(int tag, Rank to) const {
    const auto flow = flow_of_(tag, to);
    return {flow, flow ? emulation_.queue().ended(*flow) : 0};
  }

  mpi::Transport& carrier_;
  Emulation& emulation_;
  FlowOfMessage flow_of_;
};

}  // namespace

std::unique_ptr<mpi::Transport> make_transport(mpi::Transport& carrier, Emulation& emulation,
                                               FlowOfMessage flow_of) {
  return std::make_unique<EmulatedTransport>(carrier, emulation, std::move(flow_of));
}

}  // namespace hios::emulated
