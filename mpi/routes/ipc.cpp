// A route of mpi/routes/route.h: device memory shared between processes.
//
// Within a host, the consumer maps the producer's tensor and copies it itself, on its own queues.
// It has one queue for each producer, since the wait for a late tensor delays all later work of a
// queue. Two empty messages for each tensor carry facts that neither device can see:
//  - "ready": sent once the producer has recorded its event;
//  - "taken": sent once the consumer has queued the wait for that event, the copy, and an event of
//    its own after it.
//
// From then on the devices keep the order. The consumer's work waits for the copy, as does the
// producer's, and no host waits for a device. Each event is recorded once in an iteration, and an
// iteration ends on the producer only with "taken", so no record overtakes the wait for the
// previous one. Tests: tests/mpi/device/device_channel_test.cpp.
#include "mpi/routes/route.h"

namespace hios::mpi {
namespace {

constexpr Bytes kNothing = 0;

class IpcSend final : public Endpoint {
 public:
  IpcSend(const EndpointContext& context, const Message& message)
      : device_(*context.device),
        inner_(context.inner),
        tensor_(message.data),
        queue_(message.queue),
        produced_(device_.make_event(/*shared=*/true)),
        ready_(
            inner_.add_send({message.peer, context.tags.next_to(message.peer), nullptr, kNothing})),
        taken_(inner_.add_receive(
            {message.peer, context.tags.next_answer_from(message.peer), nullptr, kNothing})) {}

  std::vector<std::string> offer() override {
    return {device_.export_memory(tensor_), device_.export_event(*produced_)};
  }
  void accept(std::span<const std::string> offered) override {
    copied_ = device_.import_event(offered.front());
  }

  void posted() override { listening_ = true; }
  void start() override {
    device_.record(*produced_, queue_);
    inner_.channel().start_send(ready_);
  }
  bool ready() override { return listening_ && inner_.channel().received(taken_); }
  void settle() override {
    device_.wait(*copied_, queue_);
    listening_ = false;
  }
  bool ended() override { return inner_.channel().sent(ready_) && copied_->done(); }
  void disconnect() override { copied_.reset(); }

 private:
  Accelerator& device_;
  InnerMessages& inner_;
  const std::byte* tensor_;
  Queue queue_;
  std::unique_ptr<DeviceEvent> produced_;
  std::unique_ptr<DeviceEvent> copied_;  // the consumer's
  std::size_t ready_, taken_;
  bool listening_ = false;  // "taken" has been posted for the message on its way
};

class IpcReceive final : public Endpoint {
 public:
  IpcReceive(const EndpointContext& context, const Message& message)
      : device_(*context.device),
        inner_(context.inner),
        message_(message),
        queue_(device_.in_queue(message.peer)),
        copied_(device_.make_event(/*shared=*/true)),
        ready_(inner_.add_receive(
            {message.peer, context.tags.next_from(message.peer), nullptr, kNothing})),
        taken_(inner_.add_send(
            {message.peer, context.tags.next_answer_to(message.peer), nullptr, kNothing})) {}

  std::vector<std::string> offer() override { return {device_.export_event(*copied_)}; }
  void accept(std::span<const std::string> offered) override {
    tensor_ = device_.import_memory(offered.front());
    produced_ = device_.import_event(offered.back());
  }

  void start() override { queued_ = false; }
  bool push() override {
    if (!queued_ && inner_.channel().received(ready_)) {
      device_.wait(*produced_, queue_);
      device_.copy(message_.data, tensor_->data(), message_.size_bytes, queue_);
      device_.record(*copied_, queue_);
      inner_.channel().start_send(taken_);
      queued_ = true;
    }
    return queued_;
  }
  bool ready() override { return queued_; }
  void settle() override { device_.wait(*copied_, message_.queue); }
  bool ended() override { return inner_.channel().sent(taken_) && copied_->done(); }
  void disconnect() override {
    produced_.reset();
    tensor_.reset();
  }

 private:
  Accelerator& device_;
  InnerMessages& inner_;
  Message message_;
  Queue queue_;
  std::unique_ptr<DeviceMemory> tensor_;   // the producer's
  std::unique_ptr<DeviceEvent> produced_;  // the producer's
  std::unique_ptr<DeviceEvent> copied_;
  std::size_t ready_, taken_;
  bool queued_ = false;
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
