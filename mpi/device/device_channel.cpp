#include "mpi/device/device_channel.h"

#include <thread>
#include <utility>

// A wait for one message advances all messages, both ways, also those of the rank's other channels.
// Otherwise two ranks could deadlock: one waits for its own send alone while its peer waits for
// another send that is ready there but not yet handed to MPI.
//
// A turn of the loop polls the wrapped channel once, then looks at each posted receive (one field
// each), and asks the device about the oldest send only. Sends follow one queue, so no later one
// can be ready earlier, and each question costs a call of the driver. Where a rank sends by two
// routes at once, one may delay the other until the device has finished the work queued before it.
// The delay is bounded, since work queued on a device waits for no host.
namespace hios::mpi {
namespace {

constexpr unsigned kTurnsBeforeYield = 16;

}  // namespace

DeviceChannel::DeviceChannel(std::vector<std::unique_ptr<Endpoint>> sends,
                             std::vector<std::unique_ptr<Endpoint>> receives,
                             std::unique_ptr<InnerMessages> inner,
                             std::shared_ptr<OpenChannels> siblings)
    : sends_(parts_of(std::move(sends))),
      receives_(parts_of(std::move(receives))),
      siblings_(std::move(siblings)),
      inner_(std::move(inner)) {
  sends_to_push_.reserve(sends_.size());
  receives_to_push_.reserve(receives_.size());
  siblings_->push_back(this);
}

DeviceChannel::~DeviceChannel() { std::erase(*siblings_, this); }

std::vector<DeviceChannel::Part> DeviceChannel::parts_of(
    std::vector<std::unique_ptr<Endpoint>> endpoints) {
  std::vector<Part> parts;
  parts.reserve(endpoints.size());
  for (std::unique_ptr<Endpoint>& endpoint : endpoints) parts.push_back({std::move(endpoint)});
  return parts;
}

void DeviceChannel::start(Part& part, std::vector<Endpoint*>& to_push) {
  part.endpoint->start();
  part.under_way = true;
  part.settled = false;
  ++under_way_;
  to_push.push_back(part.endpoint.get());
}

void DeviceChannel::start_receives() {
  inner_->channel().start_receives();
  for (Part& part : sends_) part.endpoint->posted();
  for (Part& part : receives_) {
    part.endpoint->posted();
    start(part, receives_to_push_);
  }
}

void DeviceChannel::start_send(std::size_t send) { start(sends_[send], sends_to_push_); }

bool DeviceChannel::open(const Part& part) {
  return !part.under_way || part.settled || part.endpoint->ready();
}

void DeviceChannel::settle(Part& part) {
  if (!part.under_way || part.settled) return;
  part.endpoint->settle();
  part.settled = true;
}

void DeviceChannel::poll() {
  if (under_way_ == 0) return;
  inner_->channel().poll();
  for (std::size_t i = 0; i < receives_to_push_.size();) {
    if (receives_to_push_[i]->push()) {
      receives_to_push_[i] = receives_to_push_.back();
      receives_to_push_.pop_back();
    } else {
      ++i;
    }
  }
  while (first_send_ < sends_to_push_.size() && sends_to_push_[first_send_]->push()) ++first_send_;
}

template <class Done>
void DeviceChannel::push_until(Done&& done) {
  for (unsigned turns = 0; !done(); ++turns) {
    for (DeviceChannel* channel : *siblings_) channel->poll();
    if (turns >= kTurnsBeforeYield) std::this_thread::yield();
  }
}

void DeviceChannel::await(Part& part) {
  push_until([&] { return open(part); });
  settle(part);
}

bool DeviceChannel::all_ended() {
  if (!receives_to_push_.empty() || first_send_ < sends_to_push_.size()) return false;
  for (std::vector<Part>* parts : {&receives_, &sends_}) {
    for (Part& part : *parts) {
      if (!part.under_way) continue;
      if (!open(part)) return false;
      settle(part);
      if (!part.endpoint->ended()) return false;
      part.under_way = false;
      --under_way_;
    }
  }
  return true;
}

bool DeviceChannel::finished() {
  if (!all_ended() || !inner_->channel().finished()) return false;
  sends_to_push_.clear();
  first_send_ = 0;
  return true;
}

void DeviceChannel::disconnect() {
  for (std::vector<Part>* parts : {&receives_, &sends_}) {
    for (Part& part : *parts) part.endpoint->disconnect();
  }
}

void DeviceChannel::finish() {
  push_until([&] { return all_ended(); });
  inner_->channel().finish();
  sends_to_push_.clear();
  first_send_ = 0;
}

}  // namespace hios::mpi
