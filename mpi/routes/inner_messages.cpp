#include "mpi/routes/inner_messages.h"

namespace hios::mpi {

std::size_t InnerMessages::add_send(const Message& message) {
  sends_.push_back(message);
  return sends_.size() - 1;
}

std::size_t InnerMessages::add_receive(const Message& message) {
  receives_.push_back(message);
  return receives_.size() - 1;
}

void InnerMessages::open(Transport& transport) {
  channel_ = transport.open_channel(sends_, receives_);
}

}  // namespace hios::mpi
