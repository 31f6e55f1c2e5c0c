#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/shared/outbox.h"
#include "mpi/transport.h"

namespace hios::mpi {

class SharedChannel;

/// The messages by which the senders of a channel tell the indices of their entries. They may
/// outlive it: one that nobody has heard would be taken for that of a later channel.
struct Introduction {
  std::vector<std::uint64_t> own, others;
  std::unique_ptr<Channel> channel;  // goes before the indices
};

/// The outboxes of a rank and of the others, by rank, that its channels share; null: none, or
/// the two cannot open each other's.
struct Outboxes {
  std::unique_ptr<Outbox> mine;
  std::vector<std::unique_ptr<OpenedOutbox>> of;
  std::vector<SharedChannel*> open;  ///< channels, which all advance where one waits
  std::vector<std::unique_ptr<Introduction>> unheard;  ///< of channels that are gone

  int spins_before_yield = 0;  ///< of a wait

  /// Returns true if the message goes through an outbox: the same at both ends.
  bool carries(const Message& message) const;
};

/// Opens a channel some of whose messages go through outboxes.
std::unique_ptr<Channel> open_shared_channel(Transport& inner, std::shared_ptr<Outboxes> outboxes,
                                             std::span<const Message> sends,
                                             std::span<const Message> receives);

}  // namespace hios::mpi
