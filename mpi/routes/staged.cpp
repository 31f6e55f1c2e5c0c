#include "mpi/routes/staged.h"

#include <algorithm>

#include "mpi/routes/host_endpoint.h"
#include "mpi/routes/route.h"

// A route of mpi/routes/route.h, and the fallback that carries every message between any two ranks.
//
// A tensor goes through pinned host memory in chunks, so that three steps overlap: the copy out of
// the sender's device, the message between the ranks, and the copy into the receiver's device. All
// copies out are queued at once after the work that computes the tensor. A chunk's message starts
// when its copy has ended, and its copy in when the message has arrived. Neither rank's host waits
// for its device: the work queue waits for the last copy by an event. Each message has a pinned
// block of its own of the same size, so that no chunk waits for another's memory.
//
// A rank that computes in host memory sends and receives the same chunks directly out of and into
// the tensor.
//
// Tests: tests/mpi/device/device_channel_test.cpp.
namespace hios::mpi {
namespace {

constexpr Bytes kChunkBytes = Bytes{256} << 10;
constexpr Bytes kMostChunks = 64;
constexpr Bytes kChunkAlignment = 4096;

constexpr Bytes rounded_up(Bytes size_bytes, Bytes unit) {
  return (size_bytes + unit - 1) / unit * unit;
}

/// Pinned memory for a message, and its chunks.
struct Staging {
  Staging(Accelerator& on, const Message& message, const std::string& what)
      : device(on),
        tensor(message.data),
        queue(message.queue),
        chunks(staging_chunks(message.size_bytes)),
        pinned(on.make_pinned(std::max<Bytes>(message.size_bytes, 1), what)) {}

  std::byte* host(std::size_t chunk) { return pinned->data() + chunks[chunk].begin; }
  std::byte* there(std::size_t chunk) { return tensor + chunks[chunk].begin; }

  Accelerator& device;
  std::byte* tensor;
  Queue queue;
  std::vector<Chunk> chunks;
  std::unique_ptr<DeviceMemory> pinned;
};

class StagedSend final : public Endpoint {
 public:
  StagedSend(const EndpointContext& context, const Message& message)
      : inner_(context.inner),
        staging_(*context.device, message,
                 "staging a message to rank " + std::to_string(message.peer.index())),
        produced_(context.device->make_event(/*shared=*/false)) {
    for (std::size_t i = 0; i < staging_.chunks.size(); ++i) {
      copied_.push_back(context.device->make_event(/*shared=*/false));
      messages_.add(
          inner_.add_send({message.peer, context.tags.next_to(message.peer), staging_.host(i),
                           staging_.chunks[i].size_bytes, message.synchronous}));
    }
  }

  void start() override {
    Accelerator& device = staging_.device;
    device.record(*produced_, staging_.queue);
    device.wait(*produced_, Queue::kOut);
    for (std::size_t i = 0; i < copied_.size(); ++i) {
      if (const Bytes size = staging_.chunks[i].size_bytes; size > 0) {
        device.copy(staging_.host(i), staging_.there(i), size, Queue::kOut);
      }
      device.record(*copied_[i], Queue::kOut);
    }
    next_ = 0;
    messages_.restart();
  }
  bool push() override {
    while (next_ < copied_.size() && copied_[next_]->done()) {
      inner_.channel().start_send(messages_[next_++]);
    }
    return next_ == copied_.size();
  }
  bool ready() override { return true; }
  void settle() override { staging_.device.wait(*copied_.back(), staging_.queue); }
  bool ended() override {
    return messages_.all([&](std::size_t index) { return inner_.channel().sent(index); });
  }

 private:
  InnerMessages& inner_;
  Staging staging_;
  std::unique_ptr<DeviceEvent> produced_;
  std::vector<std::unique_ptr<DeviceEvent>> copied_;  // by chunk
  HostMessages messages_;
  std::size_t next_ = 0;  // first chunk whose message has not been started
};

class StagedReceive final : public Endpoint {
 public:
  StagedReceive(const EndpointContext& context, const Message& message)
      : inner_(context.inner),
        queue_(context.device->in_queue(message.peer)),
        staging_(*context.device, message,
                 "staging a message from rank " + std::to_string(message.peer.index())),
        copied_(context.device->make_event(/*shared=*/false)) {
    for (std::size_t i = 0; i < staging_.chunks.size(); ++i) {
      messages_.add(inner_.add_receive({message.peer, context.tags.next_from(message.peer),
                                        staging_.host(i), staging_.chunks[i].size_bytes}));
    }
  }

  void start() override { next_ = 0; }
  bool push() override {
    const std::size_t chunks = messages_.size();
    for (; next_ < chunks && inner_.channel().received(messages_[next_]); ++next_) {
      if (const Bytes size = staging_.chunks[next_].size_bytes; size > 0) {
        staging_.device.copy(staging_.there(next_), staging_.host(next_), size, queue_);
      }
      if (next_ + 1 == chunks) staging_.device.record(*copied_, queue_);
    }
    return ready();
  }
  bool ready() override { return next_ == messages_.size(); }
  void settle() override { staging_.device.wait(*copied_, staging_.queue); }
  bool ended() override { return copied_->done(); }

 private:
  InnerMessages& inner_;
  Queue queue_;
  Staging staging_;
  std::unique_ptr<DeviceEvent> copied_;
  HostMessages messages_;
  std::size_t next_ = 0;  // first chunk whose arrival has not been seen
};

bool in_device_memory(const EndpointContext& context, const Message& message) {
  return context.device != nullptr && !message.on_host;
}

/// Makes the chunks of a message as messages of host memory.
template <class Add>
HostMessages chunked(const Message& message, Add&& add) {
  HostMessages messages;
  for (const Chunk& chunk : staging_chunks(message.size_bytes)) {
    messages.add(add(message.data + chunk.begin, chunk.size_bytes));
  }
  return messages;
}

std::unique_ptr<Endpoint> make_staged_send(const EndpointContext& context, const Message& message) {
  if (in_device_memory(context, message)) return std::make_unique<StagedSend>(context, message);
  return std::make_unique<HostSend>(
      context.inner, chunked(message, [&](std::byte* data, Bytes size_bytes) {
        return context.inner.add_send({message.peer, context.tags.next_to(message.peer), data,
                                       size_bytes, message.synchronous});
      }));
}

std::unique_ptr<Endpoint> make_staged_receive(const EndpointContext& context,
                                              const Message& message) {
  if (in_device_memory(context, message)) return std::make_unique<StagedReceive>(context, message);
  return std::make_unique<HostReceive>(
      context.inner, chunked(message, [&](std::byte* data, Bytes size_bytes) {
        return context.inner.add_receive(
            {message.peer, context.tags.next_from(message.peer), data, size_bytes});
      }));
}

}  // namespace

std::vector<Chunk> staging_chunks(Bytes size_bytes) {
  const Bytes most = std::max(
      kChunkBytes, rounded_up((size_bytes + kMostChunks - 1) / kMostChunks, kChunkAlignment));
  std::vector<Chunk> chunks;
  Bytes begin = 0;
  do {
    chunks.push_back({begin, std::min(most, size_bytes - begin)});
    begin += chunks.back().size_bytes;
  } while (begin < size_bytes);
  return chunks;
}

Route staged_route() {
  return {.name = "staged",
          .description = "through pinned host memory, in chunks",
          .serves = {.hosts = true, .device_and_host = true, .devices = true},
          .make_send = make_staged_send,
          .make_receive = make_staged_receive};
}

}  // namespace hios::mpi
