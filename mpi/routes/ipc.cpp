// A route of mpi/routes/route.h: device memory shared between processes.
//
// Within a host, the consumer maps the producer's tensor and copies it itself, on its own queues.
// It has one queue for each producer, since the wait for a late tensor delays all later work of a
// queue. Tensors that a stage gives to one rank are a batch (Message::batch), which has an event on
// either side, and two empty messages that carry facts which neither device can see:
//  - "ready": sent once the producer has recorded its event;
//  - "taken": sent once the consumer has queued the wait for that event, the copies, and an event
//    of its own after them.
//
// From then on the devices keep the order. The consumer's work waits for the copies, as does the
// producer's, and no host waits for a device. Each event is recorded once in an iteration, and an
// iteration ends on the producer only with "taken", so no record overtakes the wait for the
// previous one. Tests: tests/mpi/device/device_channel_test.cpp.
#include "mpi/routes/route.h"

namespace hios::mpi {
namespace {

constexpr Bytes kNothing = 0;

/// The producer's side of a batch. All of its messages start in every iteration.
class IpcOutgoing {
 public:
  IpcOutgoing(const EndpointContext& context, const Message& message)
      : device_(*context.device),
        inner_(context.inner),
        queue_(message.queue),
        produced_(device_.make_event(/*shared=*/true)),
        ready_(
            inner_.add_send({message.peer, context.tags.next_to(message.peer), nullptr, kNothing})),
        taken_(inner_.add_receive(
            {message.peer, context.tags.next_answer_from(message.peer), nullptr, kNothing})) {}

  void add() { ++messages_; }
  std::string offer() { return device_.export_event(*produced_); }
  void accept(const std::string& copied) {
    if (!copied_) copied_ = device_.import_event(copied);
  }
  void start() {
    if (starts_++ % messages_ != 0) return;
    device_.record(*produced_, queue_);
    inner_.channel().start_send(ready_);
  }
  bool taken() { return inner_.channel().received(taken_); }
  void settle() { device_.wait(*copied_, queue_); }
  bool ended() { return inner_.channel().sent(ready_) && copied_->done(); }
  void disconnect() { copied_.reset(); }

 private:
  Accelerator& device_;
  InnerMessages& inner_;
  Queue queue_;
  std::unique_ptr<DeviceEvent> produced_;
  std::unique_ptr<DeviceEvent> copied_;  // the consumer's
  std::size_t ready_, taken_;
  std::size_t messages_ = 0, starts_ = 0;
};

class IpcSend final : public Endpoint {
 public:
  IpcSend(const EndpointContext& context, const Message& message)
      : device_(*context.device),
        tensor_(message.data),
        batch_(context.inner.shared<IpcOutgoing>(message, /*sends=*/true, [&] {
          return std::make_shared<IpcOutgoing>(context, message);
        })) {
    batch_->add();
  }

  std::vector<std::string> offer() override {
    return {device_.export_memory(tensor_), batch_->offer()};
  }
  void accept(std::span<const std::string> offered) override { batch_->accept(offered.front()); }

  void posted() override { listening_ = true; }
  void start() override { batch_->start(); }
  bool ready() override { return listening_ && batch_->taken(); }
  void settle() override {
    batch_->settle();
    listening_ = false;
  }
  bool ended() override { return batch_->ended(); }
  void disconnect() override { batch_->disconnect(); }

 private:
  Accelerator& device_;
  const std::byte* tensor_;
  const std::shared_ptr<IpcOutgoing> batch_;
  bool listening_ = false;  // "taken" has been posted for the message on its way
};

/// The consumer's side of a batch.
class IpcIncoming {
 public:
  IpcIncoming(const EndpointContext& context, const Message& message)
      : device_(*context.device),
        inner_(context.inner),
        queue_(device_.in_queue(message.peer)),
        copied_(device_.make_event(/*shared=*/true)),
        ready_(inner_.add_receive(
            {message.peer, context.tags.next_from(message.peer), nullptr, kNothing})),
        taken_(inner_.add_send(
            {message.peer, context.tags.next_answer_to(message.peer), nullptr, kNothing})) {}

  /// Adds a message; returns its number.
  std::size_t add(const Message& message) {
    copies_.push_back({message.data, message.size_bytes, nullptr});
    return copies_.size() - 1;
  }
  std::string offer() { return device_.export_event(*copied_); }
  void accept(std::size_t message, std::span<const std::string> offered) {
    copies_[message].from = device_.import_memory(offered.front());
    if (!produced_) produced_ = device_.import_event(offered.back());
  }
  void start() {
    if (starts_++ % copies_.size() == 0) queued_ = false;
  }
  bool push() {
    if (queued_ || !inner_.channel().received(ready_)) return queued_;
    device_.wait(*produced_, queue_);
    for (const Copy& copy : copies_) {
      device_.copy(copy.to, copy.from->data(), copy.size_bytes, queue_);
    }
    device_.record(*copied_, queue_);
    inner_.channel().start_send(taken_);
    return queued_ = true;
  }
  bool queued() const { return queued_; }
  void settle(Queue queue) { device_.wait(*copied_, queue); }
  bool ended() { return inner_.channel().sent(taken_) && copied_->done(); }
  void disconnect() {
    produced_.reset();
    for (Copy& copy : copies_) copy.from.reset();
  }

 private:
  struct Copy {
    std::byte* to;
    Bytes size_bytes;
    std::unique_ptr<DeviceMemory> from;  // the producer's
  };

  Accelerator& device_;
  InnerMessages& inner_;
  Queue queue_;
  std::vector<Copy> copies_;
  std::unique_ptr<DeviceEvent> produced_;  // the producer's
  std::unique_ptr<DeviceEvent> copied_;
  std::size_t ready_, taken_;
  std::size_t starts_ = 0;
  bool queued_ = false;
};

class IpcReceive final : public Endpoint {
 public:
  IpcReceive(const EndpointContext& context, const Message& message)
      : queue_(message.queue),
        batch_(context.inner.shared<IpcIncoming>(
            message, /*sends=*/false,
            [&] { return std::make_shared<IpcIncoming>(context, message); })),
        number_(batch_->add(message)) {}

  std::vector<std::string> offer() override { return {batch_->offer()}; }
  void accept(std::span<const std::string> offered) override { batch_->accept(number_, offered); }

  void start() override { batch_->start(); }
  bool push() override { return batch_->push(); }
  bool ready() override { return batch_->queued(); }
  void settle() override { batch_->settle(queue_); }
  bool ended() override { return batch_->ended(); }
  void disconnect() override { batch_->disconnect(); }

 private:
  Queue queue_;
  const std::shared_ptr<IpcIncoming> batch_;
  const std::size_t number_;
};

std::unique_ptr<Endpoint> make_ipc_send(const EndpointContext& context, const Message& message) {
  return std::make_unique<IpcSend>(context, message);
}

std::unique_ptr<Endpoint> make_ipc_receive(const EndpointContext& context, const Message& message) {
  return std::make_unique<IpcReceive>(context, message);
}

}  // namespace

Route ipc_route() {
  return {.name = "ipc",
          .description = "the receiver maps the sender's device memory and copies from it",
          .serves = {.devices = true},
          .within_host = true,
          .exchanges_offers = true,
          .takes_empty = false,  // no memory to share
          .make_send = make_ipc_send,
          .make_receive = make_ipc_receive};
}

}  // namespace hios::mpi
