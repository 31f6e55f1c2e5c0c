#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "hios/base/ids.h"

/// The messages of one rank that loads of parameters need: pure data, the same on every run.
namespace hios {

/// A load to this rank.
struct LocalLoad {
  std::size_t lane = 0;  ///< index into PlannedLoads::lanes
  std::size_t load = 0;  ///< index there
};

/// Parameters that this rank sends to another, as a load of its own, once it holds them and their
/// lane has come to them.
struct ParameterSend {
  Rank to;
  int number = 0;             ///< the load's, through all lanes: both ends have it
  std::vector<OpId> readers;  ///< as PlannedLoad::readers, of this rank
  Bytes size_bytes = 0;       ///< as the graph counts them
  std::size_t lane = 0;       ///< its lane in the schedule
  std::size_t index = 0;      ///< its index there
  /// The loads to this rank that must have ended: that of the same parameters, and the one before
  /// in its lane.
  std::vector<LocalLoad> after = {};
  std::optional<std::size_t> baton = {};  ///< index into LoadExchange::batons_received
};

struct ParameterReceive {
  Rank from;
  int number = 0;
  LocalLoad load;
};

/// A message without content, by which a lane goes on at another rank: the load before has ended.
struct BatonSend {
  Rank to;
  int number = 0;  ///< the number of the load that may begin
  LocalLoad after;
};
struct BatonReceive {
  Rank from;
  int number = 0;
  std::optional<LocalLoad> opens = {};  ///< the load that may begin; nothing: it is a ParameterSend
};

struct LoadExchange {
  std::vector<ParameterSend> sends;
  std::vector<ParameterReceive> receives;
  std::vector<BatonSend> batons_sent;
  std::vector<BatonReceive> batons_received;
  /// Where all loads come first: the ranks to which this one reports the end of its loads, and
  /// those that report theirs to it.
  std::vector<Rank> reports_to, reports_from;
  int numbers = 0;   ///< loads of the schedule, those included that nothing needs
  bool any = false;  ///< some rank has such messages; the same on all ranks
};

}  // namespace hios
