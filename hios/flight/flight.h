#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"

/// What a rank did last, as a flight recorder keeps it: `hios-flight`, a file a rank,
/// written where a job ends in a failure.
namespace hios::flight {

/// What an event says. Of those that begin something, the next event of the main thread is also its
/// end; collectives and operators say it themselves (operators may run on several streams).
enum class EventKind : std::uint8_t {
  kPhase,          ///< the job does something else now: "setting up"
  kCollective,     ///< a call that waits for other ranks begins
  kCollectiveEnd,  ///< … has ended
  kAwaitReceive,   ///< waits for a tensor of another rank
  kAwaitSend,      ///< waits until a tensor's place may be overwritten
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
  double age_ms = 0;  ///< how long before the file was written
  std::uint64_t iteration = 0;
  std::string text;                 ///< in words: "waiting for conv_3 … from rank 1"
  std::string op;                   ///< the operator, or that whose output travels; empty: none
  std::optional<std::size_t> peer;  ///< the rank that it is about
  std::optional<std::size_t> stage;
  Bytes bytes = 0;  ///< of a tensor
};

/// How the process ended.
enum class Ending : std::uint8_t {
  kRunning,  ///< it has not: the file was asked for
  kInOrder,  ///< by itself; no file is written
  kError,
  kTimeOut,
  kSignal,  ///< one that it could note
  kKilled,  ///< without a word: SIGKILL
};
std::string_view to_string(Ending ending);
/// The reason of a rank that was told to end, mostly because another had failed.
inline constexpr const char* kTold = "SIGTERM";
void to_json(Json& json, Ending ending);

/// One rank's record. Every text is as it stood in that process's memory, made printable.
struct Flight {
  std::string program;  ///< as the process called itself
  std::string job;      ///< the same on all ranks of a job; empty: the job had not begun
  std::optional<std::size_t> rank, ranks;  ///< none where the process had not learnt it
  std::string host;
  std::int64_t process = 0;  ///< its number on the host
  double written_s = 0;      ///< since 1970 UTC
  Ending ending = Ending::kRunning;
  std::string reason;  ///< the error's line; "SIGSEGV"
  std::string phase;
  std::vector<Event> events;  ///< oldest first, at most kEvents (hios/flight/recorder.h)
  std::string file = {};      ///< where it was read from, for messages; no part of it
};

Json to_json(const Flight& flight);
/// Throws InputError with the file and the JSON path.
Flight parse_flight(const JsonView& root);
Flight read_flight(const std::filesystem::path& file, const ReadLimits& limits = {});

/// What the rank did when its record ended. Pointers are into the flight.
struct Standing {
  const Event* event = nullptr;       ///< what the main thread began last; null: nothing
  const Event* collective = nullptr;  ///< the call that waits for other ranks, if it is in one
  std::vector<const Event*> running;  ///< operators that have begun and not ended
};
Standing standing_of(const Flight& flight);

/// In words: "conv_7 in stage 4, iteration 12", "waiting for the other ranks (barrier)".
std::string standing_text(const Flight& flight);

}  // namespace hios::flight
