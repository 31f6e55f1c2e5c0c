#pragma once

#include <memory>
#include <vector>

#include "mpi/routes/endpoint.h"

namespace hios::mpi {

class DeviceChannel;
/// The open channels of one transport.
using OpenChannels = std::vector<DeviceChannel*>;

/// The channel of a device transport: an endpoint for each message, and the loop that advances
/// them.
class DeviceChannel final : public Channel {
 public:
  /// Takes the endpoints by message, in the caller's order; `inner` has been opened. The channel is
  /// an element of `siblings` as long as it lives: waiting for a message of one channel advances
  /// them all.
  DeviceChannel(std::vector<std::unique_ptr<Endpoint>> sends,
                std::vector<std::unique_ptr<Endpoint>> receives,
                std::unique_ptr<InnerMessages> inner, std::shared_ptr<OpenChannels> siblings);
  ~DeviceChannel() override;
  DeviceChannel(const DeviceChannel&) = delete;
  DeviceChannel& operator=(const DeviceChannel&) = delete;

  void start_receives() override;
  void start_send(std::size_t send) override;
  void await_receive(std::size_t receive) override { await(receives_[receive]); }
  void await_send(std::size_t send) override { await(sends_[send]); }
  bool received(std::size_t receive) override { return open(receives_[receive]); }
  bool sent(std::size_t send) override { return open(sends_[send]); }
  void poll() override;
  void finish() override;
  bool finished() override;
  bool recordable() const override;
  void begin_recording() override;
  void end_recording(bool complete) override;
  void check() override;
  bool abandon() noexcept override;
  void disconnect() override;
  /// Takes back the messages under way that the wrapped transport can take back; others may still
  /// arrive where they were to. No other call may follow.
  void take_back() { inner_->close(); }

 private:
  struct Transfer {
    std::unique_ptr<Endpoint> endpoint;
    bool under_way = false;  ///< started in this iteration
    bool settled = false;    ///< the work queue is ordered after it
  };

  static std::vector<Transfer> transfers_of(std::vector<std::unique_ptr<Endpoint>> endpoints);
  static bool open(const Transfer& transfer);
  static void settle(Transfer& transfer);
  void post();
  void start(Transfer& transfer, std::vector<Endpoint*>& to_push);
  void await(Transfer& transfer);
  template <class Done>
  void push_until(Done&& done);
  bool all_ended();

  std::vector<Transfer> sends_, receives_;
  // Transfers that were started and still need push(). Sends are in the order of their starts, the
  // others in any order: receives, and sends that only queue work (Endpoint::recordable).
  std::vector<Endpoint*> sends_to_push_, others_to_push_;
  std::size_t first_send_ = 0;  // in sends_to_push_; all before it need no more push()
  std::size_t under_way_ = 0;
  const int exceptions_;  // when it was opened
  std::shared_ptr<OpenChannels> siblings_;
  // last member: its requests end before the memory they use
  std::unique_ptr<InnerMessages> inner_;
};

}  // namespace hios::mpi
