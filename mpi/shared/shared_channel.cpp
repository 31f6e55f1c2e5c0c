// The sender of a message takes an entry of its outbox, and tells the receiver its index by a
// message of `inner` with the same tag, once, when the channel is opened. From then on both look at
// the entry.
#include "mpi/shared/shared_channel.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

namespace hios::mpi {
namespace {

/// Messages up to here are sent at once by MPI libraries (Open MPI: 4096 bytes with their header).
constexpr Bytes kLeastBytes = 4096;

}  // namespace

class SharedChannel final : public Channel {
 public:
  SharedChannel(Transport& inner, std::shared_ptr<Outboxes> outboxes,
                std::span<const Message> sends, std::span<const Message> receives);
  ~SharedChannel() override;
  SharedChannel(const SharedChannel&) = delete;
  SharedChannel& operator=(const SharedChannel&) = delete;

  void start_receives() override;
  void start_send(std::size_t send) override;
  void await_receive(std::size_t receive) override;
  void await_send(std::size_t send) override;
  bool received(std::size_t receive) override;
  bool sent(std::size_t send) override;
  void poll() override;
  void finish() override;
  bool finished() override { return under_way_ == 0 && rest_->finished(); }
  void check() override { rest_->check(); }
  bool abandon() noexcept override { return rest_->abandon(); }
  void disconnect() override { rest_->disconnect(); }

  /// Takes what is there.
  void advance();

 private:
  struct Send {
    Message message;
    std::size_t entry = 0;
    bool under_way = false;  // only if synchronous
  };
  struct Receive {
    Message message;
    const OpenedOutbox* from = nullptr;
    OutboxEntry* entry = nullptr;  // null: its index has not come yet
    std::uint64_t turn = 0;
    bool under_way = false;
  };
  /// A message by its number in the channel: in an outbox, or in the rest.
  struct Place {
    bool shared = false;
    std::size_t index = 0;
  };

  void open(Transport& inner, const std::vector<Message>& rest_sends,
            const std::vector<Message>& rest_receives);
  bool take(std::size_t index);
  void end_sends();
  template <class Done>
  void wait_until(Done&& done);

  std::shared_ptr<Outboxes> outboxes_;
  std::vector<Place> send_at_, receive_at_;
  std::vector<Send> sends_;
  std::vector<Receive> receives_;
  std::unique_ptr<Introduction> introduction_ = std::make_unique<Introduction>();
  std::unique_ptr<Channel> rest_;
  std::size_t under_way_ = 0;
};

SharedChannel::SharedChannel(Transport& inner, std::shared_ptr<Outboxes> outboxes,
                             std::span<const Message> sends, std::span<const Message> receives)
    : outboxes_(std::move(outboxes)) {
  std::erase_if(outboxes_->unheard, [](const std::unique_ptr<Introduction>& each) {
    each->channel->poll();
    return each->channel->finished();
  });
  std::vector<Message> rest_sends, rest_receives;
  for (const Message& message : sends) {
    const bool shared = outboxes_->carries(message);
    send_at_.push_back({shared, shared ? sends_.size() : rest_sends.size()});
    if (shared) {
      sends_.push_back({message, outboxes_->mine->take_entry()});
    } else {
      rest_sends.push_back(message);
    }
  }
  for (const Message& message : receives) {
    const bool shared = outboxes_->carries(message);
    receive_at_.push_back({shared, shared ? receives_.size() : rest_receives.size()});
    if (shared) {
      receives_.push_back({message, outboxes_->of[message.peer.index()].get()});
    } else {
      rest_receives.push_back(message);
    }
  }
  open(inner, rest_sends, rest_receives);
  outboxes_->open.push_back(this);
}

void SharedChannel::open(Transport& inner, const std::vector<Message>& rest_sends,
                         const std::vector<Message>& rest_receives) {
  introduction_->own.resize(sends_.size());
  introduction_->others.resize(receives_.size());
  std::vector<Message> telling, hearing;
  const auto index_message = [](const Message& of, std::uint64_t& index) {
    return Message{of.peer, of.tag, reinterpret_cast<std::byte*>(&index), sizeof index};
  };
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    introduction_->own[i] = sends_[i].entry;
    telling.push_back(index_message(sends_[i].message, introduction_->own[i]));
  }
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    hearing.push_back(index_message(receives_[i].message, introduction_->others[i]));
  }
  introduction_->channel = inner.open_channel(telling, hearing);
  rest_ = inner.open_channel(rest_sends, rest_receives);
  introduction_->channel->start_receives();
  for (std::size_t i = 0; i < sends_.size(); ++i) introduction_->channel->start_send(i);
}

SharedChannel::~SharedChannel() {
  std::erase(outboxes_->open, this);
  for (const Send& send : sends_) outboxes_->mine->leave_entry(send.entry);
  if (introduction_->channel && !introduction_->channel->finished()) {
    outboxes_->unheard.push_back(std::move(introduction_));
  }
}

void SharedChannel::start_receives() {
  for (Receive& receive : receives_) {
    ++receive.turn;
    receive.under_way = true;
  }
  under_way_ += receives_.size();
  rest_->start_receives();
}

void SharedChannel::start_send(std::size_t send) {
  const auto [shared, index] = send_at_[send];
  if (!shared) return rest_->start_send(index);
  Send& started = sends_[index];
  const Message& message = started.message;
  wait_until([&] { return outboxes_->mine->put(started.entry, message.data, message.size_bytes); });
  started.under_way = message.synchronous;
  if (started.under_way) ++under_way_;
}

void SharedChannel::await_receive(std::size_t receive) {
  const auto [shared, index] = receive_at_[receive];
  if (!shared) return rest_->await_receive(index);
  wait_until([&, i = index] { return take(i); });
}

void SharedChannel::await_send(std::size_t send) {
  const auto [shared, index] = send_at_[send];
  if (!shared) return rest_->await_send(index);
  wait_until([&, i = index] { return !sends_[i].under_way; });
}

bool SharedChannel::received(std::size_t receive) {
  const auto [shared, index] = receive_at_[receive];
  return shared ? !receives_[index].under_way : rest_->received(index);
}

bool SharedChannel::sent(std::size_t send) {
  const auto [shared, index] = send_at_[send];
  return shared ? !sends_[index].under_way : rest_->sent(index);
}

void SharedChannel::poll() {
  advance();
  rest_->poll();
}

void SharedChannel::finish() {
  wait_until([&] { return under_way_ == 0; });
  rest_->finish();
}

void SharedChannel::advance() {
  if (under_way_ == 0) return;
  for (std::size_t i = 0; i < receives_.size(); ++i) take(i);
  end_sends();
}

/// Copies a message that is there. Returns false if it is not.
bool SharedChannel::take(std::size_t index) {
  Receive& receive = receives_[index];
  if (!receive.under_way) return true;
  if (receive.entry == nullptr) {
    Channel& introduction = *introduction_->channel;
    if (!introduction.received(index)) introduction.poll();
    if (!introduction.received(index)) return false;
    receive.entry = &receive.from->entry(introduction_->others[index]);
  }
  OutboxEntry& entry = *receive.entry;
  if (entry.turn.load(std::memory_order_acquire) != receive.turn) return false;
  std::memcpy(receive.message.data, receive.from->bytes(entry), receive.message.size_bytes);
  entry.taken.store(receive.turn, std::memory_order_release);
  receive.under_way = false;
  --under_way_;
  return true;
}

void SharedChannel::end_sends() {
  for (Send& send : sends_) {
    if (!send.under_way || !outboxes_->mine->taken(send.entry)) continue;
    send.under_way = false;
    --under_way_;
  }
}

/// The rank for which this one waits may wait for it in any of its channels.
template <class Done>
void SharedChannel::wait_until(Done&& done) {
  for (int spins = 0; !done(); ++spins) {
    for (SharedChannel* const channel : outboxes_->open) channel->advance();
    rest_->poll();
    if (spins >= outboxes_->spins_before_yield) std::this_thread::yield();
  }
}

bool Outboxes::carries(const Message& message) const {
  return of[message.peer.index()] != nullptr && message.size_bytes >= kLeastBytes &&
         message.size_bytes <= Outbox::kMostBytes;
}

std::unique_ptr<Channel> open_shared_channel(Transport& inner, std::shared_ptr<Outboxes> outboxes,
                                             std::span<const Message> sends,
                                             std::span<const Message> receives) {
  const auto carried = [&](const Message& message) { return outboxes->carries(message); };
  if (std::ranges::none_of(sends, carried) && std::ranges::none_of(receives, carried)) {
    return inner.open_channel(sends, receives);
  }
  return std::make_unique<SharedChannel>(inner, std::move(outboxes), sends, receives);
}

}  // namespace hios::mpi
