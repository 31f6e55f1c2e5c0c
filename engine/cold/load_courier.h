#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/cold/kept_parameters.h"
#include "engine/cold/load_exchange.h"
#include "engine/cold/load_lanes.h"
#include "hios/graph/graph.h"
#include "mpi/transport.h"

namespace hios {

/// A rank's share in the loads of several ranks: it sends parameters and batons as soon as they may
/// leave, and opens this rank's lanes when those of others arrive. Used by the main thread, which
/// calls poll() whenever it waits, and between operators. All calls but the constructor and the
/// destructor allocate, lock and wait for nothing. On an asynchronous device parameters travel in
/// order with the queues of their lanes.
class LoadCourier {
 public:
  /// `own`: null where this rank loads nothing. `first_tag`: the first that no tensor has. All
  /// arguments outlive this, except `memory_of`. Collective. Throws InputError, on all ranks, where
  /// two of them lay parameters out in different ways.
  LoadCourier(mpi::Transport& transport, Backend& backend, const Graph& graph,
              const LoadExchange& exchange, std::span<const std::vector<PlannedLoad>> lanes,
              int first_tag, LoadLanes* own, const KeptParameters::MemoryOf& memory_of);

  /// Returns the number of the load whose parameters a message of this tag has; nothing where it
  /// has none. `numbers`: LoadExchange::numbers. REQUIRES: its parameters are one stretch of
  /// memory.
  static std::optional<std::size_t> load_of(int tag, int first_tag, int numbers);

  /// Starts an iteration, after the lanes.
  void begin();
  void poll();
  /// Returns true if parameters that this rank sends have left; on a device, if it was given all
  /// that they wait for.
  bool sent(std::size_t send) const { return sends_[send].ended; }
  /// Returns true if the loads of all other ranks have ended, where they report it (reports_from).
  bool others_ended() const { return reports_left_ == 0; }
  /// Returns true if this iteration's messages have all ended, and those of others to this rank.
  bool finished() const { return finished_; }
  /// Returns the start of a send in the last iteration, on this host's clock, as LoadClock.
  double start_ms(std::size_t send) const { return sends_[send].start_ms; }

  /// Releases what the channel borrowed: see Channel::disconnect.
  void disconnect() { channel_->disconnect(); }

 private:
  /// A message, or several that travel together: consecutive ones of the channel.
  struct Parcel {
    std::size_t first = 0, count = 0;
    std::vector<LocalLoad> after = {};
    bool held_back = false;  // by a baton that has not come
    bool started = false;
    bool ended = false;
    double start_ms = 0;
  };

  void agree_on_layouts(mpi::Transport& transport, const Graph& graph,
                        std::span<const std::vector<PlannedLoad>> lanes,
                        const KeptParameters::MemoryOf& memory_of) const;
  void open(mpi::Transport& transport, std::span<const std::vector<PlannedLoad>> lanes,
            int first_tag, const KeptParameters::MemoryOf& memory_of);
  void look_at_receives();
  void look_at_sends();
  bool may_leave(const Parcel& parcel) const;

  std::string digest_of(const std::vector<std::span<std::byte>>& memory) const;

  Backend& backend_;
  const LoadExchange& exchange_;
  LoadLanes* const own_;
  bool finished_ = true;
  std::vector<std::byte> no_content_;  // the content of batons and ends
  // In the order of the channel: parameters, batons, then the ends of all loads.
  std::vector<Parcel> sends_, receives_;
  std::size_t sends_left_ = 0, receives_left_ = 0, reports_left_ = 0;
  std::unique_ptr<mpi::Channel> channel_;
};

}  // namespace hios
