#include "mpi/device/open_device_channel.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "hios/base/error.h"
#include "mpi/exchange.h"
#include "mpi/session/agreement.h"

// Endpoints take their tags pair by pair, in the order of their messages' tags rather than the
// caller's, so both sides take the same ones. Where memory is shared, all ranks gather all offers,
// each accepts those of its peers, and then all agree on whether every rank succeeded. A rank that
// threw alone would leave the others waiting; so one that has failed takes part to the end, with no
// offers.
namespace hios::mpi {
namespace {

/// Identifies a message: its sender, receiver and tag.
using MessageKey = std::tuple<std::size_t, std::size_t, int>;

/// Data that one side of a message gives to the other.
struct Offer {
  Bytes size_bytes = 0;
  std::vector<std::string> lines;
  static auto fields(auto& self) { return std::tie(self.size_bytes, self.lines); }
};
/// The offers of one rank. Sends and receives are separate, since either side of a message makes an
/// offer.
struct Offers {
  std::map<MessageKey, Offer> sends, receives;
  static auto fields(auto& self) { return std::tie(self.sends, self.receives); }
};

class Opening {
 public:
  Opening(Transport& transport, Accelerator* device, const RouteTable& table, TagBook& tags,
          std::span<const Message> sends, std::span<const Message> receives)
      : transport_(transport),
        table_(table),
        sends_(sends),
        receives_(receives),
        context_{device, *inner_, tags} {}

  void make_endpoints();
  Offers offers();
  void accept(const Offers& of_all);
  std::unique_ptr<DeviceChannel> open(std::shared_ptr<OpenChannels> siblings);
  /// Disconnects the endpoints of a channel that will not be opened. REQUIRES: not open.
  void disconnect();

 private:
  static std::vector<std::size_t> by_tag(std::span<const Message> messages);
  const Route& route(Rank from, Rank to, const Message& message) const;
  EndpointContext context_of(const Route& route) const;
  MessageKey key_to(const Message& send) const {
    return {transport_.rank().index(), send.peer.index(), send.tag};
  }
  MessageKey key_from(const Message& receive) const {
    return {receive.peer.index(), transport_.rank().index(), receive.tag};
  }
  static void take(Endpoint& endpoint, const std::map<MessageKey, Offer>& offers,
                   const MessageKey& key, Bytes size_bytes);

  Transport& transport_;
  const RouteTable& table_;
  std::span<const Message> sends_, receives_;
  std::unique_ptr<InnerMessages> inner_ = std::make_unique<InnerMessages>();
  EndpointContext context_;
  std::vector<std::unique_ptr<Endpoint>> send_endpoints_, receive_endpoints_;
};

std::vector<std::size_t> Opening::by_tag(std::span<const Message> messages) {
  std::vector<std::size_t> order(messages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return messages[a].tag < messages[b].tag; });
  return order;
}

const Route& Opening::route(Rank from, Rank to, const Message& message) const {
  const Route& chosen = table_.at(from, to);
  const bool lacks = (message.size_bytes == 0 && !chosen.takes_empty) ||
                     (message.queue != Queue::kWork && !chosen.takes_any_queue);
  return lacks || message.on_host ? fallback_route() : chosen;
}

EndpointContext Opening::context_of(const Route& route) const {
  EndpointContext context = context_;
  context.shared = table_.shared[index_of(route)].get();
  return context;
}

void Opening::make_endpoints() {
  send_endpoints_.resize(sends_.size());
  receive_endpoints_.resize(receives_.size());
  const Rank self = transport_.rank();
  for (const std::size_t i : by_tag(sends_)) {
    const Message& message = sends_[i];
    const Route& by = route(self, message.peer, message);
    send_endpoints_[i] = by.make_send(context_of(by), message);
  }
  for (const std::size_t i : by_tag(receives_)) {
    const Message& message = receives_[i];
    const Route& by = route(message.peer, self, message);
    receive_endpoints_[i] = by.make_receive(context_of(by), message);
  }
}

Offers Opening::offers() {
  Offers mine;
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    std::vector<std::string> lines = send_endpoints_[i]->offer();
    if (!lines.empty()) {
      mine.sends[key_to(sends_[i])] = {sends_[i].size_bytes, std::move(lines)};
    }
  }
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    std::vector<std::string> lines = receive_endpoints_[i]->offer();
    if (!lines.empty()) {
      mine.receives[key_from(receives_[i])] = {receives_[i].size_bytes, std::move(lines)};
    }
  }
  return mine;
}

void Opening::take(Endpoint& endpoint, const std::map<MessageKey, Offer>& offers,
                   const MessageKey& key, Bytes size_bytes) {
  const auto& [from, to, tag] = key;
  const std::string message = "the message from rank " + std::to_string(from) + " to rank " +
                              std::to_string(to) + ", tag " + std::to_string(tag);
  const auto offered = offers.find(key);
  if (offered == offers.end()) throw RunError(message + ", is planned on one side only");
  if (offered->second.size_bytes != size_bytes) {
    throw RunError(message + ", has " + std::to_string(size_bytes) + " bytes on one side and " +
                   std::to_string(offered->second.size_bytes) + " on the other");
  }
  endpoint.accept(offered->second.lines);
}

/// Passes the other side's offers to the endpoints that made an offer themselves.
void Opening::accept(const Offers& of_all) {
  for (std::size_t i = 0; i < sends_.size(); ++i) {
    const MessageKey key = key_to(sends_[i]);
    if (of_all.sends.contains(key)) {
      take(*send_endpoints_[i], of_all.receives, key, sends_[i].size_bytes);
    }
  }
  for (std::size_t i = 0; i < receives_.size(); ++i) {
    const MessageKey key = key_from(receives_[i]);
    if (of_all.receives.contains(key)) {
      take(*receive_endpoints_[i], of_all.sends, key, receives_[i].size_bytes);
    }
  }
}

std::unique_ptr<DeviceChannel> Opening::open(std::shared_ptr<OpenChannels> siblings) {
  inner_->open(transport_);
  return std::make_unique<DeviceChannel>(std::move(send_endpoints_), std::move(receive_endpoints_),
                                         std::move(inner_), std::move(siblings));
}

void Opening::disconnect() {
  for (auto* endpoints : {&send_endpoints_, &receive_endpoints_}) {
    for (const std::unique_ptr<Endpoint>& endpoint : *endpoints) {
      if (endpoint) endpoint->disconnect();
    }
  }
}

/// Runs a step that may fail on one rank; returns its error message, empty if it succeeded.
template <class Step>
std::string message_of(Step&& step) {
  try {
    step();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Returns the ranks whose failures concern this one.
std::vector<bool> concerning(const Transport& transport, Concerned concerned,
                             std::span<const Message> sends, std::span<const Message> receives) {
  std::vector<bool> ranks(transport.size(), concerned == Concerned::kAllRanks);
  ranks[transport.rank().index()] = true;
  for (const std::span<const Message> messages : {sends, receives}) {
    for (const Message& message : messages) ranks[message.peer.index()] = true;
  }
  return ranks;
}

/// Returns the joint message of these ranks. Collective.
std::string joint(Transport& transport, const std::vector<bool>& ranks,
                  const std::string& message) {
  std::vector<std::string> messages = gather(transport, message);
  for (std::size_t r = 0; r < messages.size(); ++r) {
    if (!ranks[r]) messages[r].clear();
  }
  return joint_message(messages);
}

}  // namespace

std::unique_ptr<DeviceChannel> open_device_channel(Transport& inner, Accelerator* device,
                                                   const RouteTable& table, TagBook& tags,
                                                   std::shared_ptr<OpenChannels> siblings,
                                                   std::span<const Message> sends,
                                                   std::span<const Message> receives,
                                                   Concerned concerned) {
  Opening opening(inner, device, table, tags, sends, receives);
  const std::vector<const Route*> used = table.used();
  const bool exchanges_offers = std::any_of(
      used.begin(), used.end(), [](const Route* route) { return route->exchanges_offers; });
  if (!exchanges_offers) {
    opening.make_endpoints();
    return opening.open(std::move(siblings));
  }
  const std::vector<bool> ranks = concerning(inner, concerned, sends, receives);
  Offers mine, of_all;
  std::string own = message_of([&] {
    opening.make_endpoints();
    mine = opening.offers();
  });
  std::string failure = joint(inner, ranks, own);
  for (Offers& of_one : gather(inner, failure.empty() ? mine : Offers{})) {
    of_all.sends.merge(of_one.sends);
    of_all.receives.merge(of_one.receives);
  }
  std::unique_ptr<DeviceChannel> channel;
  if (failure.empty()) {
    own = message_of([&] {
      opening.accept(of_all);
      channel = opening.open(std::move(siblings));
    });
  }
  failure = joint(inner, ranks, own);
  if (failure.empty() && concerned == Concerned::kAllRanks) return channel;
  // Some ranks have mapped memory that others are about to free.
  if (!failure.empty()) channel ? channel->disconnect() : opening.disconnect();
  inner.barrier();
  if (failure.empty()) return channel;
  throw RunError(failure);
}

}  // namespace hios::mpi
