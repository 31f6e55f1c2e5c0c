// A route of mpi/routes/route.h: the library of the devices' maker carries tensors from queue to
// queue, within a host and between hosts. No rank's host takes part once a message is queued.
//
// All devices of the job are one group, whose members have their turns in the order of their calls.
// Two ranks that begin with different messages would wait for each other forever, so all queue
// their messages by one order: a channel's by Message::order, then tag, sender and receiver; and
// the iterations of channels, the rounds, in the order in which they begin, the same on all ranks.
// Message::order puts a message after all that its tensor is computed from. So of the first message
// that has not arrived, both sides have their turn, and the stage that computes it waits for no
// later one: it arrives.
//
// A send is queued once it was started, a receive without being asked, each after all earlier
// messages. Both lie on one queue of their own, so a late tensor delays the messages after it and
// nothing else. A receive that waits occupies a small part of its GPU. All of this can be part of a
// recording, of one iteration as a whole: then a rank's host starts it, and no more. Tests:
// tests/engine/cuda/emulated/rank_networks_test.cpp.
#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/log.h"
#include "mpi/device_group.h"
#include "mpi/exchange.h"
#include "mpi/routes/route.h"
#include "mpi/session/agreement.h"

namespace hios::mpi {
namespace {

class NcclMessage;

/// The messages of a channel, in the order in which an iteration queues them.
struct NcclRound {
  std::vector<NcclMessage*> messages = {};
  std::size_t next = 0;  ///< the first that has not been queued
  bool under_way = false;
};

/// A rank's member of the group, and the rounds whose messages are still to be queued.
class NcclRanks final : public SharedByRoute {
 public:
  NcclRanks(std::unique_ptr<DeviceGroup> joined, Queue on, Rank rank,
            std::vector<std::size_t> by_rank)
      : group(std::move(joined)), queue(on), self(rank), member_of(std::move(by_rank)) {}

  /// Returns the round of a channel, which lives as long as its messages.
  std::shared_ptr<NcclRound> round_of(const InnerMessages& channel) {
    std::weak_ptr<NcclRound>& known = rounds_[&channel];
    std::shared_ptr<NcclRound> round = known.lock();
    if (!round) known = round = std::make_shared<NcclRound>();
    under_way_.reserve(rounds_.size());
    return round;
  }
  void begin(NcclRound& round);
  /// Queues all messages whose turn it is.
  void advance();
  /// Forgets a round whose channel ends before it has.
  void forget(const NcclRound& round) { std::erase(under_way_, &round); }

  const std::unique_ptr<DeviceGroup> group;
  const Queue queue;
  const Rank self;
  const std::vector<std::size_t> member_of;  ///< by rank; those without a device are none

 private:
  std::map<const InnerMessages*, std::weak_ptr<NcclRound>> rounds_;
  std::vector<NcclRound*> under_way_;  // in the order of their begins
};

class NcclMessage final : public Endpoint {
 public:
  NcclMessage(const EndpointContext& context, const Message& message, bool sends)
      : device_(*context.device),
        ranks_(static_cast<NcclRanks&>(*context.shared)),
        round_(ranks_.round_of(context.inner)),
        message_(message),
        sends_(sends),
        before_(device_.make_event(/*shared=*/false)),
        ended_(device_.make_event(/*shared=*/false)) {
    round_->messages.push_back(this);
    std::ranges::sort(round_->messages, {}, &NcclMessage::order);
  }
  ~NcclMessage() override {
    ranks_.forget(*round_);
    std::erase(round_->messages, this);
  }

  void posted() override {
    started_ = queued_ = false;
    ranks_.begin(*round_);
  }
  void start() override {
    device_.record(*before_, message_.queue);
    started_ = true;
  }
  bool push() override {
    ranks_.advance();
    return queued_;
  }
  bool ready() override { return queued_; }
  void settle() override { device_.wait(*ended_, message_.queue); }
  bool ended() override {
    check();
    return ended_->done();
  }
  void check() override { ranks_.group->check(); }
  bool abandon() noexcept override { return ranks_.group->abandon(); }
  bool recordable() const override { return true; }
  void forget() override {
    ranks_.forget(*round_);
    round_->under_way = queued_ = false;
  }
  /// Lets no call wait for a rank that will not answer.
  void disconnect() override {
    try {
      if (queued_ && !ended_->done()) ranks_.group->abandon();
    } catch (const Error&) {
      // The failure that ends this channel has been reported.
    }
  }

  bool started() const { return started_; }
  void queue() {
    const std::size_t member = ranks_.member_of[message_.peer.index()];
    device_.wait(*before_, ranks_.queue);
    if (sends_) {
      ranks_.group->send(message_.data, message_.size_bytes, member, ranks_.queue);
    } else {
      ranks_.group->receive(message_.data, message_.size_bytes, member, ranks_.queue);
    }
    device_.record(*ended_, ranks_.queue);
    queued_ = true;
  }

 private:
  using Order = std::tuple<std::size_t, int, Rank, Rank>;
  static Order order(const NcclMessage* message) {
    const Rank self = message->ranks_.self, peer = message->message_.peer;
    return {message->message_.order, message->message_.tag, message->sends_ ? self : peer,
            message->sends_ ? peer : self};
  }

  Accelerator& device_;
  NcclRanks& ranks_;
  const std::shared_ptr<NcclRound> round_;
  const Message message_;
  const bool sends_;
  std::unique_ptr<DeviceEvent> before_;  // the work that was queued before the message's start
  std::unique_ptr<DeviceEvent> ended_;
  bool started_ = false, queued_ = false;
};

void NcclRanks::begin(NcclRound& round) {
  if (round.under_way) return;
  round.under_way = true;
  round.next = 0;
  under_way_.push_back(&round);
}

void NcclRanks::advance() {
  while (!under_way_.empty()) {
    NcclRound& round = *under_way_.front();
    while (round.next < round.messages.size() && round.messages[round.next]->started()) {
      round.messages[round.next++]->queue();
    }
    if (round.next < round.messages.size()) return;
    round.under_way = false;
    under_way_.erase(under_way_.begin());
  }
}

std::unique_ptr<Endpoint> make_nccl_send(const EndpointContext& context, const Message& message) {
  return std::make_unique<NcclMessage>(context, message, /*sends=*/true);
}

std::unique_ptr<Endpoint> make_nccl_receive(const EndpointContext& context,
                                            const Message& message) {
  return std::make_unique<NcclMessage>(context, message, /*sends=*/false);
}

/// A rank's library, or the reason why it has none; both empty: it has no device.
struct GroupLibrary {
  bool member = false;
  std::string version, failure;
  static auto fields(auto& self) { return std::tie(self.member, self.version, self.failure); }
};

GroupLibrary library_of(Accelerator* device) {
  if (device == nullptr) return {};
  auto* const grouping = dynamic_cast<GroupingDevice*>(device);
  if (grouping == nullptr) return {true, {}, "no library joins these devices"};
  try {
    return {true, grouping->group_library(), {}};
  } catch (const Error& error) {
    return {true, {}, printable(error.what(), 200)};
  }
}

/// Returns the reason why the libraries cannot work together; empty: they can.
std::string why_apart(const std::vector<GroupLibrary>& libraries) {
  const auto first = std::ranges::find_if(libraries, &GroupLibrary::member);
  std::vector<std::string> failures;
  std::vector<std::optional<std::string>> versions;
  for (const GroupLibrary& library : libraries) {
    failures.push_back(library.failure);
    versions.emplace_back((library.member ? library : *first).version);
  }
  if (std::string failure = joint_message(failures); !failure.empty()) return failure;
  const std::string groups = groups_text(versions);
  return groups.empty() ? groups : "the versions differ: " + groups;
}

/// Makes the group; returns the reason why that failed on some rank.
std::string join_nccl(Transport& transport, Accelerator* device,
                      std::shared_ptr<SharedByRoute>& shared) {
  const std::vector<GroupLibrary> libraries = gather(transport, library_of(device));
  if (const std::string why = why_apart(libraries); !why.empty()) return why;
  const std::size_t self = transport.rank().index();
  std::vector<std::size_t> member_of(libraries.size());
  std::size_t members = 0, first = libraries.size();
  for (std::size_t r = 0; r < libraries.size(); ++r) {
    if (!libraries[r].member) continue;
    first = std::min(first, r);
    member_of[r] = members++;
  }
  auto* const grouping = dynamic_cast<GroupingDevice*>(device);
  std::string failure, name;
  const auto try_jointly = [&](auto&& step) {
    try {
      step();
    } catch (const Error& error) {
      failure = printable(error.what(), 200);
    }
    return joint_message(gather(transport, failure));
  };
  std::string why = try_jointly([&] {
    if (self == first) name = grouping->name_group();
  });
  if (!why.empty()) return why;
  name = broadcast(transport, name, Rank(first));
  std::unique_ptr<DeviceGroup> group;
  why = try_jointly([&] {
    if (grouping) group = grouping->join_group(name, member_of[self], members);
  });
  if (!why.empty() && group) group->abandon();  // another member is missing
  if (!why.empty() || !group) return why;
  log::verbose(libraries[first].version + " joins the GPUs of " + std::to_string(members) +
               " ranks");
  shared = std::make_shared<NcclRanks>(std::move(group), device->in_queue(transport.rank()),
                                       transport.rank(), std::move(member_of));
  return why;
}

}  // namespace

Route nccl_route() {
  return {.name = "nccl",
          .description = "the GPUs' own library carries them, without the hosts",
          .serves = {.devices = true},
          .join = join_nccl,
          .takes_empty = false,
          .takes_any_queue = false,  // their order is unknown
          .records = true,
          .make_send = make_nccl_send,
          .make_receive = make_nccl_receive};
}

}  // namespace hios::mpi
