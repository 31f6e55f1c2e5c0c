// A route of mpi/routes/route.h: MPI receives addresses of device memory.
//
// MPI knows no queue of a device, so the sender's host stands between the two. It records an event
// after the work that computes the tensor, and sends the message, from the tensor's own address,
// once the event is done. Received bytes are in the device's memory and visible to all work queued
// later. Tests: tests/mpi/device/device_channel_test.cpp.
#include "mpi/routes/route.h"

namespace hios::mpi {
namespace {

class CudaAwareSend final : public Endpoint {
 public:
  CudaAwareSend(const EndpointContext& context, const Message& message)
      : device_(*context.device),
        inner_(context.inner),
        index_(inner_.add_send({message.peer, context.tags.next_to(message.peer), message.data,
                                message.size_bytes, message.synchronous})),
        queue_(message.queue),
        produced_(device_.make_event(/*shared=*/false)) {}

  void start() override {
    device_.record(*produced_, queue_);
    started_ = false;
  }
  bool push() override {
    if (!started_ && produced_->done()) {
      inner_.channel().start_send(index_);
      started_ = true;
    }
    return started_;
  }
  bool ready() override { return started_ && inner_.channel().sent(index_); }

 private:
  Accelerator& device_;
  InnerMessages& inner_;
  std::size_t index_;
  Queue queue_;
  std::unique_ptr<DeviceEvent> produced_;
  bool started_ = false;
};

class CudaAwareReceive final : public Endpoint {
 public:
  CudaAwareReceive(const EndpointContext& context, const Message& message)
      : inner_(context.inner),
        index_(inner_.add_receive({message.peer, context.tags.next_from(message.peer), message.data,
                                   message.size_bytes})) {}
  void start() override {}
  bool ready() override { return inner_.channel().received(index_); }

 private:
  InnerMessages& inner_;
  std::size_t index_;
};

std::unique_ptr<Endpoint> make_cuda_aware_send(const EndpointContext& context,
                                               const Message& message) {
  return std::make_unique<CudaAwareSend>(context, message);
}

std::unique_ptr<Endpoint> make_cuda_aware_receive(const EndpointContext& context,
                                                  const Message& message) {
  return std::make_unique<CudaAwareReceive>(context, message);
}

std::string why_not_cuda_aware(const Transport& transport) {
  return transport.claims_device_memory() ? "" : "this MPI is not CUDA-aware";
}

}  // namespace

Route cuda_aware_route() {
  return {.name = "cuda-aware",
          .description = "MPI is given the addresses of device memory",
          .serves = {.devices = true},
          .unavailable = why_not_cuda_aware,
          .takes_empty = false,  // no memory to give to MPI
          .make_send = make_cuda_aware_send,
          .make_receive = make_cuda_aware_receive};
}

}  // namespace hios::mpi
