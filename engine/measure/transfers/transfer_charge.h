#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include "engine/measure/block_run.h"
#include "engine/measure/profiler_context.h"

namespace hios {

/// The time that a tensor's transfer takes from its two ends.
struct ChargedTransfer {
  double send_ms = 0;     ///< the sender's own time; noise may make it negative
  double receive_ms = 0;  ///< the receiver's own time
  std::int64_t samples = 0;
};

/// A transfer whose charge is to be measured.
struct TransferToCharge {
  Rank from, to;
  Bytes size_bytes = 0;
  double transfer_ms = 0;         ///< by itself, between waiting ranks
  double operator_ms = 0;         ///< the approximate time of one of the work's operators
  std::size_t most_tensors = 12;  ///< in a run
  static auto fields(auto& self) {
    return std::tie(self.from, self.to, self.size_bytes, self.transfer_ms, self.operator_ms,
                    self.most_tensors);
  }
};

/// Measures a tensor's charge. Two ranks compute, each by itself, and poll their messages between
/// operators as ranks do with many inferences in flight: once without messages, and once while
/// tensors go from one to the other. The charge is the time of the calls that send, receive and
/// poll messages, minus the time of polling without messages: the median over `iterations` pairs of
/// runs, in turns, disturbed ones left out while half remain. Neither rank waits for the other
/// meanwhile: the work goes on for a while after the last message. Of `rounds`, warm-up and
/// iterations count.
///
/// `work`: null on ranks that take no part. Host backends only. Collective: all ranks call it and
/// get the same result; empty where the protocol's `stop` ended it.
std::optional<ChargedTransfer> charge_of_transfer(const ProfilerContext& context, BlockRun* work,
                                                  const TransferToCharge& transfer,
                                                  const Protocol& rounds);

}  // namespace hios
