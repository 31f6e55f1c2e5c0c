#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hios/base/files/file_io.h"
#include "hios/base/ids.h"
#include "hios/base/json/json_view.h"

/// The last events of a rank, as a flight recorder keeps them: files of the format `hios-flight`
/// version 1, one a rank, written where a job ends in a failure.
namespace hios::flight {

/// The kind of an event. Most steps end with the main thread's next event; collectives and
/// operators have end events of their own (operators may run on several streams).
enum class EventKind : std::uint8_t {
  kPhase,          ///< the job enters another phase: "setting up"
  kCollective,     ///< a call that waits for other ranks begins
  kCollectiveEnd,  ///< … has ended
  kAwaitReceive,   ///< waits for a tensor of another rank
  kAwaitSend,      ///< waits until a tensor's slot may be overwritten
  kAwaitLoad,      ///< waits for parameters
  kSend,           ///< begins to send a tensor
  kStage,          ///< a stage begins; on an asynchronous device, it is queued
  kOperator,       ///< an operator begins, on the stream that it runs on
  kOperatorEnd,    ///< … has ended
  kAwaitMessages,  ///< waits for the end of all messages of the iteration
  kAwaitDevice,    ///< waits for an asynchronous device
  kIterationEnd,   ///< an iteration has ended
};
std::string_view to_string(EventKind kind);
void to_json(Json& json, EventKind kind);

struct Event {
  EventKind kind = EventKind::kPhase;
  double age_ms = 0;  ///< time from the event until the file was written
  std::uint64_t iteration = 0;
  std::string text;  ///< a description: "waiting for conv_3 … from rank 1"
  std::string op;    ///< the operator, or the producer of the tensor that travels; empty: none
  std::optional<std::size_t> peer;  ///< the other rank of a message
  std::optional<std::size_t> stage;
  Bytes bytes = 0;  ///< size of the tensor
};

/// The way in which a process ended.
enum class Ending : std::uint8_t {
  kRunning,  ///< it has not ended: the file was requested
  kInOrder,  ///< by itself; no file is written
  kError,
  kTimeOut,
  kSignal,  ///< any signal but SIGKILL
  kKilled,  ///< SIGKILL, or without a message where the system does not say how
};
std::string_view to_string(Ending ending);
/// The reason of a rank that was asked to end, mostly because another had failed.
inline constexpr const char* kAskedToEnd = "SIGTERM";
void to_json(Json& json, Ending ending);

/// One rank's record. Every text comes from that process's memory and is made printable.
struct Flight {
  std::string program;  ///< the name that the process gave itself
  std::string job;      ///< the same on all ranks of a job; empty: the job had not started
  std::optional<std::size_t> rank, ranks;  ///< none where the process did not know them yet
  std::string host;
  std::int64_t process = 0;  ///< its number on the host
  double written_s = 0;      ///< since 1970 UTC
  Ending ending = Ending::kRunning;
  std::string reason;  ///< the error's line; "SIGALRM"; "exited without a message, with status 5"
  std::string phase;
  std::vector<Event> events;  ///< oldest first, at most kEvents (hios/flight/recorder.h)
  std::string file = {};  ///< the file that it was read from, for messages; not part of the record
};

Json to_json(const Flight& flight);
/// Throws InputError with the file and the JSON path.
Flight parse_flight(const JsonView& root);
Flight read_flight(const std::filesystem::path& file, const ReadLimits& limits = {});

/// The steps that a rank was in when its record ended. Pointers are into the flight.
struct Standing {
  const Event* event = nullptr;       ///< the main thread's last step; null: none
  const Event* collective = nullptr;  ///< the call that waits for other ranks; null: none
  std::vector<const Event*> running;  ///< operators that have not ended
};
Standing standing_of(const Flight& flight);

/// Returns a description: "conv_7 in stage 4, iteration 12", "waiting for the other ranks
/// (barrier)".
std::string standing_text(const Flight& flight);

}  // namespace hios::flight
