#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mpi/transport.h"

namespace hios::test {

/// A transport that passes all on to another; a test's own changes what it says or does.
class ForwardingTransport : public mpi::Transport {
 public:
  /// `inner` must outlive it.
  explicit ForwardingTransport(mpi::Transport& inner) : inner_(inner) {}

  Rank rank() const override { return inner_.rank(); }
  std::size_t size() const override { return inner_.size(); }
  std::size_t local_rank() const override { return inner_.local_rank(); }
  std::size_t local_size() const override { return inner_.local_size(); }
  const std::string& host() const override { return inner_.host(); }
  std::string path() const override { return inner_.path(); }
  bool claims_device_memory() const override { return inner_.claims_device_memory(); }
  void barrier() override { inner_.barrier(); }
  std::vector<std::string> all_gather(const std::string& text) override {
    return inner_.all_gather(text);
  }
  std::string broadcast(const std::string& text) override { return inner_.broadcast(text); }
  void all_reduce_max(std::span<double> values) override { inner_.all_reduce_max(values); }
  std::unique_ptr<mpi::Channel> open_channel(std::span<const mpi::Message> sends,
                                             std::span<const mpi::Message> receives) override {
    return inner_.open_channel(sends, receives);
  }
  void abort(int exit_code) override { inner_.abort(exit_code); }

 protected:
  mpi::Transport& inner() { return inner_; }

 private:
  mpi::Transport& inner_;
};

}  // namespace hios::test
