#include "hios/report/trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

// In the Trace Event Format an arrow consists of two events that lie inside slices. Where no slice
// of the lane covers the time of an event, viewers drop the arrow silently. A message leaves at the
// very end of its producer and arrives at the very start of its consumer or, if measured,
// microseconds away from them. So each end is moved onto its slice.
namespace hios {
namespace {

constexpr double kMicrosecondsPerMs = 1000;

/// A time this long before a slice's end is still inside it, in a viewer with a resolution of ns.
constexpr double kInsideMs = 1e-5;

}  // namespace

std::size_t Trace::process_index(const std::string& process) {
  const auto at = std::find(processes_.begin(), processes_.end(), process);
  const auto index = static_cast<std::size_t>(at - processes_.begin());
  if (index == processes_.size()) processes_.push_back(process);
  return index;
}

std::size_t Trace::lane_index(const std::string& process, const std::string& lane) {
  const std::size_t owner = process_index(process);
  const auto at = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& known) {
    return known.process == owner && known.name == lane;
  });
  const auto index = static_cast<std::size_t>(at - lanes_.begin());
  if (index == lanes_.size()) lanes_.push_back({owner, lane, {}});
  return index;
}

void Trace::slice(const std::string& process, const std::string& lane, const std::string& name,
                  double start_ms, double end_ms, OwnedJson args) {
  lanes_[lane_index(process, lane)].slices.push_back({name, start_ms, end_ms, std::move(args)});
}

void Trace::arrow(const std::string& process, const std::string& from_lane, double from_ms,
                  const std::string& to_lane, double to_ms, const std::string& name) {
  arrows_.push_back(
      {name, lane_index(process, from_lane), from_ms, lane_index(process, to_lane), to_ms});
}

double Trace::departure_ms(const Lane& lane, double moment_ms) {
  const Slice* source = nullptr;
  for (const Slice& slice : lane.slices) {
    const bool later = source == nullptr || slice.start_ms >= source->start_ms;
    if (slice.start_ms <= moment_ms && later) source = &slice;
  }
  if (source == nullptr) return moment_ms;
  const double last = std::max(source->start_ms, source->end_ms - kInsideMs);
  return std::min(moment_ms, last);
}

double Trace::arrival_ms(const Lane& lane, double moment_ms) {
  const Slice* target = nullptr;
  for (const Slice& slice : lane.slices) {
    const bool earlier = target == nullptr || slice.start_ms < target->start_ms;
    if (slice.end_ms > moment_ms && earlier) target = &slice;
  }
  return target == nullptr ? moment_ms : std::max(moment_ms, target->start_ms);
}

Json Trace::event(const char* phase, std::size_t lane, const std::string& name,
                  double moment_ms) const {
  return {{"ph", phase},
          {"pid", lanes_[lane].process + 1},
          {"tid", lane + 1},
          {"name", name},
          {"ts", moment_ms * kMicrosecondsPerMs}};
}

void Trace::append_names(Json& events) const {
  const auto name = [&](const char* what, std::size_t pid, std::size_t tid, const Json& args) {
    events.push_back({{"ph", "M"}, {"pid", pid}, {"tid", tid}, {"name", what}, {"args", args}});
  };
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    name("process_name", i + 1, 0, {{"name", processes_[i]}});
    name("process_sort_index", i + 1, 0, {{"sort_index", i}});
  }
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    const std::size_t pid = lanes_[i].process + 1;
    name("thread_name", pid, i + 1, {{"name", lanes_[i].name}});
    name("thread_sort_index", pid, i + 1, {{"sort_index", i}});
  }
}

void Trace::append_slices(Json& events) const {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    for (const Slice& slice : lanes_[lane].slices) {
      Json complete = event("X", lane, slice.name, slice.start_ms);
      complete["dur"] = std::max(0.0, slice.end_ms - slice.start_ms) * kMicrosecondsPerMs;
      if (!slice.args->empty()) complete["args"] = slice.args;
      events.push_back(std::move(complete));
    }
  }
}

void Trace::append_arrows(Json& events) const {
  for (std::size_t id = 0; id < arrows_.size(); ++id) {
    const Arrow& arrow = arrows_[id];
    const double from = departure_ms(lanes_[arrow.from_lane], arrow.from_ms);
    const double to = arrival_ms(lanes_[arrow.to_lane], arrow.to_ms);
    for (const bool start : {true, false}) {
      Json end = start ? event("s", arrow.from_lane, arrow.name, from)
                       : event("f", arrow.to_lane, arrow.name, to);
      end["cat"] = "message";
      end["id"] = id + 1;
      if (!start) end["bp"] = "e";  // binds to the slice that covers the time
      events.push_back(std::move(end));
    }
  }
}

Json Trace::json() const {
  Json events = Json::array();
  append_names(events);
  append_slices(events);
  append_arrows(events);
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

}  // namespace hios
