// A courier never waits. Each call of poll() lets messages progress, then opens what arrived, then
// starts what may leave; a rank that waits for anything calls it all the time, so that what
// others wait for leaves as soon as this rank can know of it (planned_loads.cpp: no deadlock).
//
// On an asynchronous device, what is seen to have arrived or left is what the device was given: the
// queues keep the order. Batons and ends are host memory there, too.
//
// A load to another rank travels as one message for each stretch of memory, from the memory of the
// sender's operators to that of the receiver's. So both must have the same layouts, which digests
// of the values prove before anything runs. Tests: cold_executor_test.cpp, load_exchange_test.cpp.
#include "engine/cold/load_courier.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "engine/host/clock.h"
#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "mpi/exchange.h"

namespace hios {
namespace {

/// The layout of a load's parameters at one of its ends.
struct Layout {
  int number = 0;
  bool sends = false;
  OpId of;
  std::string digest;
  static auto fields(auto& self) { return std::tie(self.number, self.sends, self.of, self.digest); }
};

/// Returns the first tag of parameters: batons come before, and the end of all loads.
int first_of(int first_tag, int numbers) { return first_tag + numbers + 1; }

const std::vector<OpId>& readers_of(const ParameterReceive& receive,
                                    std::span<const std::vector<PlannedLoad>> lanes) {
  return lanes[receive.load.lane][receive.load.load].readers;
}

}  // namespace

LoadCourier::LoadCourier(mpi::Transport& transport, Backend& backend, const Graph& graph,
                         const LoadExchange& exchange,
                         std::span<const std::vector<PlannedLoad>> lanes, int first_tag,
                         LoadLanes* own, const KeptParameters::MemoryOf& memory_of)
    : backend_(backend), exchange_(exchange), own_(own), no_content_(2, std::byte{}) {
  agree_on_layouts(transport, graph, lanes, memory_of);
  open(transport, lanes, first_tag, memory_of);
}

std::string LoadCourier::digest_of(const std::vector<std::span<std::byte>>& memory) const {
  Digest digest;
  std::string bytes;
  for (const std::span<std::byte> part : memory) {
    bytes.resize(part.size());
    backend_.read(bytes.data(), part.data(), part.size());
    digest.add(bytes);
  }
  return digest.hex();
}

void LoadCourier::agree_on_layouts(mpi::Transport& transport, const Graph& graph,
                                   std::span<const std::vector<PlannedLoad>> lanes,
                                   const KeptParameters::MemoryOf& memory_of) const {
  std::vector<Layout> mine;
  for (const ParameterSend& send : exchange_.sends) {
    mine.push_back({send.number, true, send.readers.front(),
                    digest_of(memory_of_all(send.readers, memory_of))});
  }
  for (const ParameterReceive& receive : exchange_.receives) {
    const std::vector<OpId>& readers = readers_of(receive, lanes);
    mine.push_back(
        {receive.number, false, readers.front(), digest_of(memory_of_all(readers, memory_of))});
  }
  const auto by_rank = mpi::gather(transport, mine);
  std::map<int, std::pair<std::size_t, std::string>> sent;  // by number: rank, digest
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    for (const Layout& layout : by_rank[r]) {
      if (layout.sends) sent.emplace(layout.number, std::pair(r, layout.digest));
    }
  }
  for (std::size_t r = 0; r < by_rank.size(); ++r) {
    for (const Layout& layout : by_rank[r]) {
      const auto& [sender, digest] = sent.at(layout.number);
      if (layout.digest == digest) continue;
      throw InputError("rank " + std::to_string(sender) + " lays out the parameters of " +
                       graph.op(layout.of).name + " otherwise than rank " + std::to_string(r) +
                       ", which loads them from there; use ranks of one kind, with as many cores, "
                       "or load them from a store");
    }
  }
}

// A message's tag has its load's number, its kind and its stretch of memory, so that both ends
// agree on it.
void LoadCourier::open(mpi::Transport& transport, std::span<const std::vector<PlannedLoad>> lanes,
                       int first_tag, const KeptParameters::MemoryOf& memory_of) {
  std::vector<mpi::Message> sends, receives;
  const int numbers = exchange_.numbers;
  const int batons = first_tag, ends = batons + numbers, parameters = first_of(first_tag, numbers);
  mpi::Accelerator* const device = backend_.accelerator();
  const auto add_parameters = [&](std::vector<mpi::Message>& messages, Rank peer, int number,
                                  const std::vector<OpId>& readers, std::size_t lane) {
    const std::size_t first = messages.size();
    const mpi::Queue queue = device ? device->load_queue(lane) : mpi::Queue::kWork;
    int tag = parameters + number;
    for (const std::span<std::byte> part : memory_of_all(readers, memory_of)) {
      messages.push_back({peer, tag, part.data(), part.size(), /*synchronous=*/false, queue});
      tag += numbers;
    }
    return Parcel{first, messages.size() - first};
  };
  const auto add_short = [&](std::vector<mpi::Message>& messages, std::size_t content, Rank peer,
                             int tag) {
    messages.push_back({peer, tag, &no_content_[content], 1});
    messages.back().on_host = true;
    return Parcel{messages.size() - 1, 1};
  };
  for (const ParameterSend& send : exchange_.sends) {
    sends_.push_back(add_parameters(sends, send.to, send.number, send.readers, send.lane));
    sends_.back().after = send.after;
  }
  for (const BatonSend& baton : exchange_.batons_sent) {
    sends_.push_back(add_short(sends, 0, baton.to, batons + baton.number));
    sends_.back().after = {baton.after};
  }
  for (const Rank peer : exchange_.reports_to) {
    sends_.push_back(add_short(sends, 0, peer, ends));
    for (std::size_t l = 0; l < lanes.size(); ++l) {
      sends_.back().after.push_back({l, lanes[l].size() - 1});
    }
  }
  for (const ParameterReceive& receive : exchange_.receives) {
    receives_.push_back(add_parameters(receives, receive.from, receive.number,
                                       readers_of(receive, lanes),
                                       lanes[receive.load.lane].front().lane));
  }
  for (const BatonReceive& baton : exchange_.batons_received) {
    receives_.push_back(add_short(receives, 1, baton.from, batons + baton.number));
  }
  for (const Rank peer : exchange_.reports_from) {
    receives_.push_back(add_short(receives, 1, peer, ends));
  }
  channel_ = transport.open_channel(sends, receives);
}

std::optional<std::size_t> LoadCourier::load_of(int tag, int first_tag, int numbers) {
  const int parameters = first_of(first_tag, numbers);
  if (tag < parameters || tag >= parameters + numbers) return {};
  return static_cast<std::size_t>(tag - parameters);
}

void LoadCourier::begin() {
  for (Parcel& parcel : sends_) parcel.started = parcel.ended = false;
  for (Parcel& parcel : receives_) parcel.ended = false;
  for (std::size_t i = 0; i < exchange_.sends.size(); ++i) {
    sends_[i].held_back = exchange_.sends[i].baton.has_value();
  }
  sends_left_ = sends_.size();
  receives_left_ = receives_.size();
  reports_left_ = exchange_.reports_from.size();
  finished_ = false;
  channel_->start_receives();
}

void LoadCourier::poll() {
  if (finished_) return;
  channel_->poll();
  look_at_receives();
  look_at_sends();
  finished_ = sends_left_ == 0 && receives_left_ == 0 && channel_->finished();
}

void LoadCourier::look_at_receives() {
  const std::size_t parameters = exchange_.receives.size();
  const std::size_t batons = exchange_.batons_received.size();
  for (std::size_t i = 0; i < receives_.size() && receives_left_ > 0; ++i) {
    Parcel& parcel = receives_[i];
    if (parcel.ended) continue;
    bool arrived = true;
    for (std::size_t m = 0; m < parcel.count; ++m) {
      arrived = arrived && channel_->received(parcel.first + m);
    }
    if (!arrived) continue;
    // On a device, the lane's queue waits for the bytes.
    for (std::size_t m = 0; m < parcel.count; ++m) channel_->await_receive(parcel.first + m);
    parcel.ended = true;
    --receives_left_;
    if (i < parameters) {
      own_->open_next(exchange_.receives[i].load.lane);
    } else if (i < parameters + batons) {
      const std::size_t baton = i - parameters;
      if (const auto& opens = exchange_.batons_received[baton].opens) {
        own_->open_next(opens->lane);
      }
      for (std::size_t s = 0; s < exchange_.sends.size(); ++s) {
        if (exchange_.sends[s].baton == baton) sends_[s].held_back = false;
      }
    } else {
      --reports_left_;
    }
  }
}

bool LoadCourier::may_leave(const Parcel& parcel) const {
  return !parcel.held_back && std::ranges::all_of(parcel.after, [&](const LocalLoad& load) {
    return own_->ended(load.lane, load.load);
  });
}

void LoadCourier::look_at_sends() {
  for (std::size_t i = 0; i < sends_.size() && sends_left_ > 0; ++i) {
    Parcel& parcel = sends_[i];
    if (parcel.ended) continue;
    if (!parcel.started) {
      if (!may_leave(parcel)) continue;
      parcel.started = true;
      parcel.start_ms = ms_between({}, Clock::now());
      for (std::size_t m = 0; m < parcel.count; ++m) channel_->start_send(parcel.first + m);
    }
    bool left = true;
    for (std::size_t m = 0; m < parcel.count; ++m) {
      left = left && channel_->sent(parcel.first + m);
    }
    if (!left) continue;
    for (std::size_t m = 0; m < parcel.count; ++m) channel_->await_send(parcel.first + m);
    parcel.ended = true;
    --sends_left_;
  }
}

}  // namespace hios
