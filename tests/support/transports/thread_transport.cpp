#include "support/transports/thread_transport.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>

#include "support/transports/thread_hub.h"

namespace hios::test {
namespace {

class ThreadChannel final : public mpi::Channel {
 public:
  ThreadChannel(Hub& hub, Rank rank, std::span<const mpi::Message> sends,
                std::span<const mpi::Message> receives)
      : hub_(hub), rank_(rank) {
    for (const mpi::Message& message : sends) sends_.push_back({message});
    for (const mpi::Message& message : receives) receives_.push_back({message});
    hub_.open(sends_, rank, /*sends=*/true);
    hub_.open(receives_, rank, /*sends=*/false);
  }
  ~ThreadChannel() override {
    hub_.close(sends_);
    hub_.close(receives_);
  }

  void start_receives() override {
    for (ChannelMessage& message : receives_) hub_.start(rank_, message);
  }
  void start_send(std::size_t send) override { hub_.start(rank_, sends_[send]); }
  void await_receive(std::size_t receive) override { hub_.await(rank_, receives_[receive]); }
  void await_send(std::size_t send) override { hub_.await(rank_, sends_[send]); }
  bool received(std::size_t receive) override { return hub_.ended(receives_[receive]); }
  bool sent(std::size_t send) override { return hub_.ended(sends_[send]); }
  void poll() override { hub_.poll(rank_); }
  void finish() override {
    for (ChannelMessage& message : receives_) hub_.await(rank_, message);
    for (ChannelMessage& message : sends_) hub_.await(rank_, message);
  }
  bool finished() override {
    const auto ended = [&](const ChannelMessage& message) { return hub_.ended(message); };
    return std::ranges::all_of(receives_, ended) && std::ranges::all_of(sends_, ended);
  }

 private:
  Hub& hub_;
  Rank rank_;
  std::vector<ChannelMessage> sends_, receives_;
};

class ThreadTransport final : public mpi::Transport {
 public:
  ThreadTransport(Hub& hub, Rank rank) : hub_(hub), rank_(rank) {}

  Rank rank() const override { return rank_; }
  std::size_t size() const override { return hub_.size(); }
  std::size_t local_rank() const override { return rank_.index(); }
  std::size_t local_size() const override { return hub_.size(); }
  const std::string& host() const override { return host_; }
  std::string path() const override { return "ranks as threads"; }
  bool claims_device_memory() const override { return false; }

  void barrier() override { hub_.exchange(rank_, "barrier", {}); }
  std::vector<std::string> all_gather(const std::string& text) override {
    return hub_.exchange(rank_, "all_gather", text);
  }
  std::string broadcast(const std::string& text) override {
    return hub_.exchange(rank_, "broadcast", rank_ == Rank(0) ? text : std::string()).front();
  }
  void all_reduce_max(std::span<double> values) override {
    const std::size_t bytes = values.size_bytes();
    std::string mine(bytes, '\0');
    if (bytes > 0) std::memcpy(mine.data(), values.data(), bytes);
    for (const std::string& text : hub_.exchange(rank_, "all_reduce_max", mine)) {
      if (text.size() != bytes) throw RunError("all_reduce_max of different lengths");
      for (std::size_t i = 0; i < values.size(); ++i) {
        double theirs = 0;
        std::memcpy(&theirs, text.data() + i * sizeof theirs, sizeof theirs);
        values[i] = std::max(values[i], theirs);
      }
    }
  }
  std::unique_ptr<mpi::Channel> open_channel(std::span<const mpi::Message> sends,
                                             std::span<const mpi::Message> receives) override {
    return std::make_unique<ThreadChannel>(hub_, rank_, sends, receives);
  }
  void abort(int exit_code) override { hub_.abort(rank_, exit_code); }

 private:
  Hub& hub_;
  Rank rank_;
  std::string host_ = "threads";
};

bool is_consequence(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const PeerFailed&) {
    return true;
  } catch (...) {
    return false;
  }
}

std::string failure_text(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception without a message";
  }
}

}  // namespace

void run_ranks(std::size_t ranks, const std::function<void(mpi::Transport&)>& body,
               const ThreadOptions& options) {
  Hub hub(ranks, options);
  std::vector<std::exception_ptr> failures(ranks);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < ranks; ++i) {
    threads.emplace_back([&hub, &body, &failures, i] {
      try {
        ThreadTransport transport(hub, Rank(i));
        body(transport);
      } catch (...) {
        failures[i] = std::current_exception();
        hub.fail("rank " + std::to_string(i) + " failed: " + failure_text(failures[i]));
      }
      hub.end(Rank(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure && !is_consequence(failure)) std::rethrow_exception(failure);
  }
}

}  // namespace hios::test
