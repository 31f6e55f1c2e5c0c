#include "engine/run/clocks/message_watch.h"

namespace hios {
namespace {

// Removes the messages from `open` for which `ended` returns true; their order changes.
template <class Ended>
void close_those(std::vector<std::size_t>& open, Ended&& ended) {
  for (std::size_t i = 0; i < open.size();) {
    if (ended(open[i])) {
      open[i] = open.back();
      open.pop_back();
    } else {
      ++i;
    }
  }
}

}  // namespace

MessageWatch::MessageWatch(mpi::Channel& channel, std::span<MessageClock> sends,
                           std::span<MessageClock> receives)
    : channel_(channel), sends_(sends), receives_(receives), awaited_(receives.size()) {
  open_sends_.reserve(sends.size());
  open_receives_.reserve(receives.size());
}

void MessageWatch::begin() {
  open_sends_.clear();
  open_receives_.clear();
  for (std::size_t i = 0; i < receives_.size(); ++i) open_receives_.push_back(i);
  awaited_.assign(receives_.size(), false);
}

void MessageWatch::send_started(std::size_t send, double now_ms) {
  sends_[send].start_ms = now_ms;
  open_sends_.push_back(send);
}

void MessageWatch::receive_awaited(std::size_t receive, double now_ms) {
  for (const std::size_t open : open_receives_) {
    if (open != receive) continue;
    receives_[receive].start_ms = now_ms;
    awaited_[receive] = true;
  }
}

double MessageWatch::waited(std::size_t receive, double since_ms) {
  MessageClock& clock = receives_[receive];
  if (clock.end_ms <= since_ms) return since_ms;
  clock.start_ms = since_ms;
  return clock.end_ms;
}

void MessageWatch::look(double now_ms) {
  close_those(open_sends_, [&](std::size_t send) {
    if (!channel_.sent(send)) return false;
    sends_[send].end_ms = now_ms;
    return true;
  });
  close_those(open_receives_, [&](std::size_t receive) {
    if (!channel_.received(receive)) return false;
    receives_[receive].end_ms = now_ms;
    if (!awaited_[receive]) receives_[receive].start_ms = now_ms;
    return true;
  });
}

void MessageWatch::end(double now_ms) {
  for (const std::size_t send : open_sends_) sends_[send].end_ms = now_ms;
  for (const std::size_t receive : open_receives_) receives_[receive].end_ms = now_ms;
  open_sends_.clear();
  open_receives_.clear();
}

}  // namespace hios
