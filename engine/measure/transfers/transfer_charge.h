#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "engine/measure/block_run.h"
#include "engine/measure/profiler_context.h"

namespace hios {

/// What a tensor takes of its two ends.
struct ChargedTransfer {
  double send_ms = 0;     ///< of the sender's own time; noise may make it less than 0
  double receive_ms = 0;  ///< of the receiver's
  std::int64_t samples = 0;
};

/// What is to be charged.
struct TransferToCharge {
  Rank from, to;
  Bytes size_bytes = 0;
  double transfer_ms = 0;  ///< by itself, between waiting ranks
  double operator_ms = 0;  ///< of the work's operators, about
  static auto fields(auto& self) {
    return std::tie(self.from, self.to, self.size_bytes, self.transfer_ms, self.operator_ms);
  }
};

/// Two ranks compute, each by itself, and look after their messages between operators as ranks do
/// with many inferences in flight: once without messages, and once while tensors go from the one to
/// the other. What the calls take that send, receive and look after messages, beyond what looking
/// takes where there are none, is a tensor's charge: the median over `iterations` pairs of runs, in
/// turns, disturbed ones left out while half remain. Nobody waits for the other meanwhile: the work
/// goes on for a while after the last message.
///
/// `work`: null on ranks that take no part. Host backends only. Collective: all ranks call it and
/// get the same; nothing where the protocol's `stop` ended it.
std::optional<ChargedTransfer> charge_of_transfer(const ProfilerContext& context, BlockRun* work,
                                                  const TransferToCharge& transfer);

}  // namespace hios
