#include "engine/run/clocks/message_watch.h"

#include <gtest/gtest.h>

namespace hios {
namespace {

// A channel whose messages end when the test says so.
class ScriptedChannel final : public mpi::Channel {
 public:
  std::vector<bool> was_received, was_sent;
  void start_receives() override {}
  void start_send(std::size_t) override {}
  void await_receive(std::size_t) override {}
  void await_send(std::size_t) override {}
  bool received(std::size_t receive) override { return was_received[receive]; }
  bool sent(std::size_t send) override { return was_sent[send]; }
  void poll() override {}
  void finish() override {}
  bool finished() override { return true; }
};

TEST(MessageWatch, NotesWhatItSeesWhenItLooks) {
  ScriptedChannel channel;
  channel.was_received = {false, false, false};
  channel.was_sent = {false, false};
  std::vector<MessageClock> sends(2), receives(3);
  MessageWatch watch(channel, sends, receives);
  for (int iteration = 0; iteration < 2; ++iteration) {
    channel.was_received = {false, false, false};
    channel.was_sent = {false, false};
    watch.begin();
    channel.was_received[1] = true;
    watch.look(2);  // receive 1 ends before the rank waits for it
    watch.receive_awaited(0, 3);
    watch.receive_awaited(1, 3);
    channel.was_received[0] = true;
    watch.look(5);
    watch.send_started(0, 6);
    watch.send_started(1, 7);
    channel.was_sent[0] = true;
    watch.look(8);
    watch.look(9);
    watch.receive_awaited(2, 10);
    watch.end(12);
    const auto expect = [](const MessageClock& clock, double start_ms, double end_ms) {
      EXPECT_EQ(clock.start_ms, start_ms);
      EXPECT_EQ(clock.end_ms, end_ms);
    };
    expect(receives[0], 3, 5);
    expect(receives[1], 2, 2);
    expect(receives[2], 10, 12);
    expect(sends[0], 6, 8);
    expect(sends[1], 7, 12);
  }
}

}  // namespace
}  // namespace hios
