#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/run/clocks/run_clocks.h"
#include "mpi/transport.h"

namespace hios {

/// Notes when the messages of an iteration start and end, while an executor records. All times are
/// the caller's, in ms from the start of the iteration. Only the constructor allocates.
class MessageWatch {
 public:
  /// Watches `channel` and writes to `sends` and `receives`, one for each message. All three
  /// outlive this.
  MessageWatch(mpi::Channel& channel, std::span<MessageClock> sends,
               std::span<MessageClock> receives);

  /// Starts an iteration: its receives have been posted.
  void begin();
  void send_started(std::size_t send, double now_ms);
  void receive_awaited(std::size_t receive, double now_ms);
  /// Notes that the rank has waited since then, if this receive has ended later. Returns the later
  /// of both: the start of a wait for the next. REQUIRES: it has been seen to have ended.
  double waited(std::size_t receive, double since_ms);
  /// Notes the messages that have ended by what the channel has seen so far.
  void look(double now_ms);
  /// Ends all open messages: the channel has finished.
  void end(double now_ms);

 private:
  mpi::Channel& channel_;
  std::span<MessageClock> sends_, receives_;
  std::vector<std::size_t> open_sends_, open_receives_;  // not seen to have ended
  std::vector<bool> awaited_;                            // by receive
};

}  // namespace hios
