#pragma once

#include <utility>
#include <vector>

#include "mpi/routes/endpoint.h"

/// Endpoints whose end of a message lies in host memory. They only start and watch messages of the
/// wrapped transport.
namespace hios::mpi {

/// The messages of the wrapped channel that together carry one buffer in host memory, by index.
class Parts {
 public:
  void add(std::size_t index) { indices_.push_back(index); }
  std::size_t size() const { return indices_.size(); }
  std::size_t operator[](std::size_t part) const { return indices_[part]; }

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
  HostSend(InnerMessages& inner, Parts parts) : inner_(inner), parts_(std::move(parts)) {}
  void start() override {
    parts_.restart();
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      inner_.channel().start_send(parts_[part]);
    }
  }
  bool ready() override {
    return parts_.all([&](std::size_t index) { return inner_.channel().sent(index); });
  }

 private:
  InnerMessages& inner_;
  Parts parts_;
};

class HostReceive final : public Endpoint {
 public:
  HostReceive(InnerMessages& inner, Parts parts) : inner_(inner), parts_(std::move(parts)) {}
  void start() override { parts_.restart(); }
  bool ready() override {
    return parts_.all([&](std::size_t index) { return inner_.channel().received(index); });
  }

 private:
  InnerMessages& inner_;
  Parts parts_;
};

}  // namespace hios::mpi
