#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mpi/transport.h"
#include "support/fakes/fake_accelerator.h"

/// Messages whose bytes are known to sender and receiver, and their buffers in host memory or on a
/// device. On a device, filling, spoiling and checking are work of its queue, queued as early as
/// the contract of channels allows.
namespace hios::test {

/// A message of the job, known to all ranks.
struct Post {
  std::size_t from;
  std::size_t to;
  int tag;
  Bytes size_bytes;
};

/// A buffer that is read or written in order with the device's work.
class Tensor {
 public:
  Tensor(FakeAccelerator* device, Bytes size_bytes);
  std::byte* data() { return memory_ ? memory_->data() : host_.data(); }

  void fill(std::span<const std::byte> content);
  void spoil();
  /// Spoils the buffer at once. REQUIRES: the device is idle.
  void spoil_now();
  /// EXPECTs the content; `what` names the message.
  void expect(std::span<const std::byte> content, const std::string& what);

 private:
  FakeAccelerator* device_;
  std::vector<std::byte> host_;
  std::unique_ptr<mpi::DeviceMemory> memory_;
};

/// One rank's side of a list of posts: tensors, and a channel over them.
class PostedMessages {
 public:
  PostedMessages(mpi::Transport& transport, FakeAccelerator* device,
                 const std::vector<Post>& posts);
  ~PostedMessages();
  PostedMessages(const PostedMessages&) = delete;
  PostedMessages& operator=(const PostedMessages&) = delete;

  mpi::Channel& channel() { return *channel_; }
  std::size_t size() const { return sides_.size(); }
  bool sends(std::size_t post) const { return sides_[post].send != kNone; }
  bool receives(std::size_t post) const { return sides_[post].receive != kNone; }

  void start_receives();
  void start_send(std::size_t post, std::size_t iteration);
  /// Waits for the send, then spoils the buffer, which the contract allows.
  void await_send(std::size_t post);
  void await_receive(std::size_t post, std::size_t iteration);
  void finish();

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  struct Side {
    Post post;
    std::size_t send = kNone, receive = kNone;
    std::unique_ptr<Tensor> sent = {}, received = {};
  };
  mpi::Transport& transport_;
  FakeAccelerator* device_;
  std::vector<Side> sides_;
  std::unique_ptr<mpi::Channel> channel_;
};

/// Returns one message of each size from every rank to every other.
std::vector<Post> all_pairs(std::size_t ranks, const std::vector<Bytes>& sizes);

}  // namespace hios::test
