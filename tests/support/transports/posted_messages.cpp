#include "support/transports/posted_messages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <exception>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/numbers/random.h"

namespace hios::test {
namespace {

using mpi::Message;
using mpi::Queue;

constexpr Bytes kLargest = (4 << 20) + 3;

/// Returns a message's content: a section of one random text, different for every message and
/// iteration.
std::span<const std::byte> content(const Post& post, std::size_t iteration) {
  constexpr std::size_t kOffsets = 1 << 16;
  static const std::vector<std::byte> text = [] {
    Random random(99);
    std::vector<std::byte> bytes(kLargest + kOffsets);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
    return bytes;
  }();
  const std::size_t offset =
      post.from * 17 + post.to * 59 + static_cast<std::size_t>(post.tag) * 101 + iteration * 7 + 1;
  return std::span(text).subspan(offset * 13 % kOffsets, post.size_bytes);
}

// Copies by one call each, not a loop over bytes: sanitizers instrument every step of a loop.
void put(std::span<const std::byte> from, std::byte* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}
void spoil_bytes(std::byte* bytes, std::size_t size) {
  if (size > 0) std::memset(bytes, 0xdd, size);
}
bool same(const std::byte* a, std::span<const std::byte> b) {
  return b.empty() || std::memcmp(a, b.data(), b.size()) == 0;
}

}  // namespace

Tensor::Tensor(FakeAccelerator* device, Bytes size_bytes) : device_(device), host_(size_bytes) {
  if (device != nullptr) memory_ = device->make_memory(size_bytes, "a tensor");
}

void Tensor::fill(std::span<const std::byte> content) {
  if (!memory_) return put(content, host_.data());
  device_->enqueue(Queue::kWork, [content, to = data()] { put(content, to); });
}

void Tensor::spoil() {
  if (!memory_) return spoil_bytes(host_.data(), host_.size());
  device_->enqueue(Queue::kWork, [to = data(), size = host_.size()] { spoil_bytes(to, size); });
}

void Tensor::spoil_now() {
  spoil_bytes(host_.data(), host_.size());
  if (memory_) device_->write(memory_->data(), host_.data(), host_.size());
}

void Tensor::expect(std::span<const std::byte> content, const std::string& what) {
  const auto look = [content, what, from = data()] { EXPECT_TRUE(same(from, content)) << what; };
  if (!memory_) return look();
  device_->enqueue(Queue::kWork, look);
}

PostedMessages::PostedMessages(mpi::Transport& transport, FakeAccelerator* device,
                               const std::vector<Post>& posts)
    : transport_(transport), device_(device) {
  std::vector<Message> sends, receives;
  for (const Post& post : posts) {
    Side side{post};
    if (post.from == transport.rank().index()) {
      side.send = sends.size();
      side.sent = std::make_unique<Tensor>(device, post.size_bytes);
      sends.push_back({Rank(post.to), post.tag, side.sent->data(), post.size_bytes});
    }
    if (post.to == transport.rank().index()) {
      side.receive = receives.size();
      side.received = std::make_unique<Tensor>(device, post.size_bytes);
      receives.push_back({Rank(post.from), post.tag, side.received->data(), post.size_bytes});
    }
    sides_.push_back(std::move(side));
  }
  channel_ = transport.open_channel(sends, receives);
}

/// Tensors are freed after the work that uses them and the channels that reach them.
PostedMessages::~PostedMessages() {
  try {
    if (device_ != nullptr) device_->synchronize();
    channel_->disconnect();
    if (std::uncaught_exceptions() == 0) transport_.barrier();
    channel_.reset();
  } catch (const Error&) {
    // Reported already, by the call that failed first.
  }
}

void PostedMessages::start_receives() {
  if (device_ != nullptr) device_->synchronize();
  for (Side& side : sides_) {
    if (side.received) side.received->spoil_now();
  }
  channel_->start_receives();
}

void PostedMessages::start_send(std::size_t post, std::size_t iteration) {
  sides_[post].sent->fill(content(sides_[post].post, iteration));
  channel_->start_send(sides_[post].send);
}

void PostedMessages::await_send(std::size_t post) {
  channel_->await_send(sides_[post].send);
  EXPECT_TRUE(channel_->sent(sides_[post].send));
  sides_[post].sent->spoil();
}

void PostedMessages::await_receive(std::size_t post, std::size_t iteration) {
  Side& side = sides_[post];
  channel_->await_receive(side.receive);
  EXPECT_TRUE(channel_->received(side.receive));
  side.received->expect(content(side.post, iteration),
                        std::to_string(side.post.size_bytes) + " bytes from " +
                            std::to_string(side.post.from) + " to " + std::to_string(side.post.to) +
                            ", tag " + std::to_string(side.post.tag) + ", iteration " +
                            std::to_string(iteration));
}

void PostedMessages::finish() {
  channel_->finish();
  for (std::size_t post = 0; post < size(); ++post) {
    EXPECT_TRUE(!sends(post) || channel_->sent(sides_[post].send));
    EXPECT_TRUE(!receives(post) || channel_->received(sides_[post].receive));
  }
}

std::vector<Post> all_pairs(std::size_t ranks, const std::vector<Bytes>& sizes) {
  std::vector<Post> posts;
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      int tag = 0;
      for (const Bytes size : sizes) {
        if (from != to) posts.push_back({from, to, tag++, size});
      }
    }
  }
  return posts;
}

}  // namespace hios::test
