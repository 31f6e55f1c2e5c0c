#include "mpi/device/device_channel.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

// A wait for one message advances all messages, both ways, also those of the rank's other channels.
// Otherwise two ranks could deadlock: one waits for its own send alone while its peer waits for
// another send that is ready there but not yet handed to MPI.
//
// A turn of the loop polls the wrapped channel once, then looks at each message whose push() asks
// the device nothing (one field each): receives, and sends that await their turn among the messages
// of a group. Of the other sends it asks the device about the oldest only, since each question
// costs a call of the driver. These may lie on several queues (a lane of loads has its own), or go
// by several routes, so one may delay a later one that is ready. The delay is bounded: each waits
// for work that is queued on the device, and that waits for no host. A turn can depend on messages
// that this rank starts later, so a send that awaits its turn must delay no other.
namespace hios::mpi {
namespace {

constexpr unsigned kTurnsBeforeYield = 16;

}  // namespace

DeviceChannel::DeviceChannel(std::vector<std::unique_ptr<Endpoint>> sends,
                             std::vector<std::unique_ptr<Endpoint>> receives,
                             std::unique_ptr<InnerMessages> inner,
                             std::shared_ptr<OpenChannels> siblings)
    : sends_(transfers_of(std::move(sends))),
      receives_(transfers_of(std::move(receives))),
      exceptions_(std::uncaught_exceptions()),
      siblings_(std::move(siblings)),
      inner_(std::move(inner)) {
  sends_to_push_.reserve(sends_.size());
  others_to_push_.reserve(receives_.size() + sends_.size());
  siblings_->push_back(this);
}

// On the way out of a failure, a device that waits for a message could not free memory.
DeviceChannel::~DeviceChannel() {
  if (under_way_ > 0 && std::uncaught_exceptions() > exceptions_) abandon();
  std::erase(*siblings_, this);
}

std::vector<DeviceChannel::Transfer> DeviceChannel::transfers_of(
    std::vector<std::unique_ptr<Endpoint>> endpoints) {
  std::vector<Transfer> transfers;
  transfers.reserve(endpoints.size());
  for (std::unique_ptr<Endpoint>& endpoint : endpoints) transfers.push_back({std::move(endpoint)});
  return transfers;
}

void DeviceChannel::start(Transfer& transfer, std::vector<Endpoint*>& to_push) {
  transfer.endpoint->start();
  transfer.under_way = true;
  transfer.settled = false;
  ++under_way_;
  to_push.push_back(transfer.endpoint.get());
}

void DeviceChannel::start_receives() {
  inner_->channel().start_receives();
  post();
}

void DeviceChannel::post() {
  for (Transfer& transfer : sends_) transfer.endpoint->posted();
  for (Transfer& transfer : receives_) {
    transfer.endpoint->posted();
    start(transfer, others_to_push_);
  }
}

bool DeviceChannel::recordable() const {
  const auto can = [](const Transfer& transfer) { return transfer.endpoint->recordable(); };
  return std::ranges::all_of(sends_, can) && std::ranges::all_of(receives_, can);
}

void DeviceChannel::begin_recording() { post(); }

// All queues join the work queue in the end, as a recording must.
void DeviceChannel::end_recording(bool complete) {
  for (std::vector<Transfer>* transfers : {&receives_, &sends_}) {
    for (Transfer& transfer : *transfers) {
      if (complete) await(transfer);
      transfer.endpoint->forget();
      transfer.under_way = false;
    }
  }
  under_way_ = first_send_ = 0;
  sends_to_push_.clear();
  others_to_push_.clear();
}

void DeviceChannel::start_send(std::size_t send) {
  Transfer& transfer = sends_[send];
  start(transfer, transfer.endpoint->recordable() ? others_to_push_ : sends_to_push_);
}

bool DeviceChannel::open(const Transfer& transfer) {
  return !transfer.under_way || transfer.settled || transfer.endpoint->ready();
}

void DeviceChannel::settle(Transfer& transfer) {
  if (!transfer.under_way || transfer.settled) return;
  transfer.endpoint->settle();
  transfer.settled = true;
}

void DeviceChannel::poll() {
  if (under_way_ == 0) return;
  inner_->channel().poll();
  for (std::size_t i = 0; i < others_to_push_.size();) {
    if (others_to_push_[i]->push()) {
      others_to_push_[i] = others_to_push_.back();
      others_to_push_.pop_back();
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

void DeviceChannel::await(Transfer& transfer) {
  push_until([&] { return open(transfer); });
  settle(transfer);
}

bool DeviceChannel::all_ended() {
  if (!others_to_push_.empty() || first_send_ < sends_to_push_.size()) return false;
  for (std::vector<Transfer>* transfers : {&receives_, &sends_}) {
    for (Transfer& transfer : *transfers) {
      if (!transfer.under_way) continue;
      if (!open(transfer)) return false;
      settle(transfer);
      if (!transfer.endpoint->ended()) return false;
      transfer.under_way = false;
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

void DeviceChannel::check() {
  for (std::vector<Transfer>* transfers : {&receives_, &sends_}) {
    for (Transfer& transfer : *transfers) transfer.endpoint->check();
  }
}

bool DeviceChannel::abandon() noexcept {
  bool ended = true;
  for (std::vector<Transfer>* transfers : {&receives_, &sends_}) {
    for (Transfer& transfer : *transfers) ended = transfer.endpoint->abandon() && ended;
  }
  return ended;
}

void DeviceChannel::disconnect() {
  for (std::vector<Transfer>* transfers : {&receives_, &sends_}) {
    for (Transfer& transfer : *transfers) transfer.endpoint->disconnect();
  }
}

void DeviceChannel::finish() {
  push_until([&] { return all_ended(); });
  inner_->channel().finish();
  sends_to_push_.clear();
  first_send_ = 0;
}

}  // namespace hios::mpi
