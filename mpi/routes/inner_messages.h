#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "mpi/transport.h"

namespace hios::mpi {

/// Tags of the wrapped messages that carry the messages of a device channel; one message may travel
/// as many, and may be answered. Both ranks of a pair count alike, because they open the same
/// channels in the same order and take tags for the same messages in the order of their tags.
class TagBook {
 public:
  /// Takes the first tag. Books of one job that may be in use at the same time begin far enough
  /// apart.
  TagBook(std::size_t ranks, int first)
      : to_(ranks, first), from_(to_), answers_from_(to_), answers_to_(to_) {}

  int next_to(Rank peer) { return 2 * take(to_[peer.index()]); }
  int next_from(Rank peer) { return 2 * take(from_[peer.index()]); }
  /// Return the tags of answers, which travel against their messages.
  int next_answer_from(Rank peer) { return 2 * take(answers_from_[peer.index()]) + 1; }
  int next_answer_to(Rank peer) { return 2 * take(answers_to_[peer.index()]) + 1; }

 private:
  /// MPI libraries allow tags of at least 21 bits in practice. A tag is used again after a million
  /// messages of a pair, long after the channel that had it.
  static constexpr int kTags = 1 << 20;
  static int take(int& counter) {
    const int tag = counter;
    counter = (counter + 1) % kTags;
    return tag;
  }

  std::vector<int> to_, from_, answers_from_, answers_to_;
};

/// The messages that a device channel's endpoints exchange on the wrapped transport.
class InnerMessages {
 public:
  /// Add a message; return its index in the opened channel.
  std::size_t add_send(const Message& message) {
    sends_.push_back(message);
    return sends_.size() - 1;
  }
  std::size_t add_receive(const Message& message) {
    receives_.push_back(message);
    return receives_.size() - 1;
  }
  /// Returns the state that this channel's messages to, or from, a peer share if they are of one
  /// batch (Message::batch); `make` makes it for the first. It lives as long as any holds it.
  template <class State, class Make>
  std::shared_ptr<State> shared(const Message& message, bool sends, Make&& make) {
    if (message.batch == 0) return make();
    std::weak_ptr<void>& known = shared_[{message.peer, message.batch, sends}];
    if (auto state = std::static_pointer_cast<State>(known.lock())) return state;
    std::shared_ptr<State> state = make();
    known = state;
    return state;
  }
  void open(Transport& transport) { channel_ = transport.open_channel(sends_, receives_); }

  /// Takes back the messages under way, as far as the transport can. No other call may follow.
  void close() { channel_.reset(); }

  Channel& channel() { return *channel_; }

 private:
  std::vector<Message> sends_, receives_;
  std::map<std::tuple<Rank, std::size_t, bool>, std::weak_ptr<void>> shared_;
  std::unique_ptr<Channel> channel_;
};

}  // namespace hios::mpi
