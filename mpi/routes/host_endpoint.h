#pragma once

#include <utility>
#include <vector>

#include "mpi/routes/endpoint.h"

/// Endpoints whose end of a message lies in host memory. They only start and watch messages of the
/// wrapped transport.
namespace hios::mpi {

/// The messages of the wrapped channel that together carry one buffer in host memory, by index.
class HostMessages {
 public:
  void add(std::size_t index) { indices_.push_back(index); }
  std::size_t size() const { return indices_.size(); }
  std::size_t operator[](std::size_t i) const { return indices_[i]; }

  void restart() { done_ = 0; }
  /// Returns true if all have ended. `ended(index)` returns true if one has; it is asked about each
  /// until then.
  template <class Ended>
  bool all(Ended&& ended) {
    while (done_ < size() && ended(indices_[done_])) ++done_;
    return done_ == size();
  }

 private:
  std::vector<std::size_t> indices_;
  std::size_t done_ = 0;
};

class HostSend final : public Endpoint {
 public:
  HostSend(InnerMessages& inner, HostMessages messages)
      : inner_(inner), messages_(std::move(messages)) {}
  void start() override {
    messages_.restart();
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      inner_.channel().start_send(messages_[i]);
    }
  }
  bool ready() override {
    return messages_.all([&](std::size_t index) { return inner_.channel().sent(index); });
  }

 private:
  InnerMessages& inner_;
  HostMessages messages_;
};

class HostReceive final : public Endpoint {
 public:
  HostReceive(InnerMessages& inner, HostMessages messages)
      : inner_(inner), messages_(std::move(messages)) {}
  void start() override { messages_.restart(); }
  bool ready() override {
    return messages_.all([&](std::size_t index) { return inner_.channel().received(index); });
  }

 private:
  InnerMessages& inner_;
  HostMessages messages_;
};

}  // namespace hios::mpi
