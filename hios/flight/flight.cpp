#include "hios/flight/flight.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/json/json_io.h"

namespace hios::flight {
namespace {

template <class Value, std::size_t N>
using Names = std::array<std::pair<Value, std::string_view>, N>;

constexpr Names<EventKind, 13> kEventNames = {{
    {EventKind::kPhase, "phase"},
    {EventKind::kCollective, "collective"},
    {EventKind::kCollectiveEnd, "collective-end"},
    {EventKind::kAwaitReceive, "await-receive"},
    {EventKind::kAwaitLoad, "await-load"},
    {EventKind::kAwaitSend, "await-send"},
    {EventKind::kSend, "send"},
    {EventKind::kStage, "stage"},
    {EventKind::kOperator, "operator"},
    {EventKind::kOperatorEnd, "operator-end"},
    {EventKind::kAwaitMessages, "await-messages"},
    {EventKind::kAwaitDevice, "await-device"},
    {EventKind::kIterationEnd, "iteration-end"},
}};

constexpr Names<Ending, 6> kEndingNames = {{
    {Ending::kRunning, "running"},
    {Ending::kInOrder, "in-order"},
    {Ending::kError, "error"},
    {Ending::kTimeOut, "time-out"},
    {Ending::kSignal, "signal"},
    {Ending::kKilled, "killed"},
}};

template <class Value, std::size_t N>
std::string_view name_of(const Names<Value, N>& names, Value value) {
  for (const auto& [each, name] : names) {
    if (each == value) return name;
  }
  return "unknown";
}

template <class Value, std::size_t N>
Value value_of(const Names<Value, N>& names, const JsonView& view) {
  const std::string word = view.string();
  for (const auto& [value, name] : names) {
    if (name == word) return value;
  }
  view.fail("is " + quote(word) + ", which is none of the known words");
}

// Far beyond any machine: the limits only refuse what cannot be a number of this kind.
constexpr std::int64_t kMost = std::int64_t{1} << 53;
constexpr std::int64_t kMostRanks = 10'000'000;

std::string text_or_empty(ObjectReader& object, std::string_view key) {
  const auto view = object.optional(key);
  return view ? view->string() : std::string();
}

std::optional<std::size_t> number_or_none(ObjectReader& object, std::string_view key) {
  const auto view = object.optional(key);
  if (!view) return std::nullopt;
  return static_cast<std::size_t>(view->integer(0, kMostRanks));
}

Json event_json(const Event& event) {
  Json json{{"event", event.kind}, {"age_ms", event.age_ms}, {"iteration", event.iteration}};
  if (!event.text.empty()) json["text"] = event.text;
  if (!event.op.empty()) json["operator"] = event.op;
  if (event.peer) json["peer"] = *event.peer;
  if (event.stage) json["stage"] = *event.stage;
  if (event.bytes > 0) json["bytes"] = event.bytes;
  return json;
}

Event parse_event(const JsonView& view) {
  ObjectReader object(view);
  Event event;
  event.kind = value_of(kEventNames, object.required("event"));
  event.age_ms = object.required("age_ms").number(-kMaxMs, std::numeric_limits<double>::max());
  event.iteration = static_cast<std::uint64_t>(object.required("iteration").integer(0, kMost));
  event.text = text_or_empty(object, "text");
  event.op = text_or_empty(object, "operator");
  event.peer = number_or_none(object, "peer");
  event.stage = number_or_none(object, "stage");
  if (const auto bytes = object.optional("bytes"))
    event.bytes = static_cast<Bytes>(bytes->integer(0, kMaxBytes));
  object.finish();
  return event;
}

}  // namespace

std::string_view to_string(EventKind kind) { return name_of(kEventNames, kind); }
void to_json(Json& json, EventKind kind) { json = to_string(kind); }
std::string_view to_string(Ending ending) { return name_of(kEndingNames, ending); }
void to_json(Json& json, Ending ending) { json = to_string(ending); }

Json to_json(const Flight& flight) {
  Json json{{"format", "hios-flight"}, {"version", kFormatVersion}, {"program", flight.program}};
  if (!flight.job.empty()) json["job"] = flight.job;
  if (flight.rank) json["rank"] = *flight.rank;
  if (flight.ranks) json["ranks"] = *flight.ranks;
  json["host"] = flight.host;
  json["process"] = flight.process;
  json["written_s"] = flight.written_s;
  json["ending"] = flight.ending;
  if (!flight.reason.empty()) json["reason"] = flight.reason;
  if (!flight.phase.empty()) json["phase"] = flight.phase;
  json["events"] = Json::array();
  for (const Event& event : flight.events) json["events"].push_back(event_json(event));
  return json;
}

Flight parse_flight(const JsonView& root) {
  ObjectReader object = open_format(root, "hios-flight");
  Flight flight;
  flight.program = object.required("program").string();
  flight.job = text_or_empty(object, "job");
  flight.rank = number_or_none(object, "rank");
  flight.ranks = number_or_none(object, "ranks");
  if (flight.rank && flight.ranks && *flight.rank >= *flight.ranks)
    root.fail("is of rank " + std::to_string(*flight.rank) + " of " +
              std::to_string(*flight.ranks) + " ranks: the first is rank 0");
  flight.host = object.required("host").string();
  flight.process = object.required("process").integer(0, kMost);
  flight.written_s = object.required("written_s").number(0, 1e12);
  flight.ending = value_of(kEndingNames, object.required("ending"));
  flight.reason = text_or_empty(object, "reason");
  flight.phase = text_or_empty(object, "phase");
  for (const JsonView& event : object.required("events").array())
    flight.events.push_back(parse_event(event));
  object.finish();
  return flight;
}

Flight read_flight(const std::filesystem::path& file, const ReadLimits& limits) {
  const Json json = read_json(file, limits);
  Flight flight = parse_flight(JsonView(json, file.string()));
  flight.file = file.string();
  return flight;
}

Standing standing_of(const Flight& flight) {
  Standing standing;
  for (const Event& event : flight.events) {
    switch (event.kind) {
      case EventKind::kCollective:
        standing.collective = &event;
        break;
      case EventKind::kCollectiveEnd:
        standing.collective = nullptr;
        break;
      case EventKind::kOperator:
        standing.running.push_back(&event);
        break;
      case EventKind::kOperatorEnd:
        std::erase_if(standing.running,
                      [&](const Event* running) { return running->op == event.op; });
        break;
      default:
        standing.event = &event;
        standing.running.clear();  // all groups of a stage have ended before its next step
    }
  }
  return standing;
}

std::string standing_text(const Flight& flight) {
  const Standing standing = standing_of(flight);
  if (standing.collective) return standing.collective->text;
  if (!standing.event) return flight.phase.empty() ? "before its first step" : flight.phase;
  const Event& event = *standing.event;
  const std::string iteration = ", iteration " + std::to_string(event.iteration);
  if (event.kind == EventKind::kPhase) return event.text;
  if (event.kind == EventKind::kIterationEnd)
    return "after iteration " + std::to_string(event.iteration);
  if (standing.running.empty()) return event.text + iteration;
  std::string operators;
  for (const Event* running : standing.running)
    operators += (operators.empty() ? "" : " and ") + running->op;
  return operators + (event.stage ? " in stage " + std::to_string(*event.stage) : "") + iteration;
}

}  // namespace hios::flight
