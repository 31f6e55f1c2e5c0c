#include "cli/schedule/comparison.h"

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "cli/remedies.h"
#include "hios/profile/extrapolate.h"

namespace hios::cli {

namespace {

/// Returns the latency of an algorithm, for speed-ups over it; empty where it has no row.
std::optional<double> latency_of(const std::vector<scheduler::Row>& rows, std::string_view name) {
  for (const scheduler::Row& row : rows) {
    if (row.algorithm == name && !row.refusal && row.given.empty())
      return row.compared().latency_ms;
  }
  return std::nullopt;
}

struct Baselines {
  explicit Baselines(const std::vector<scheduler::Row>& rows)
      : sequential_ms(latency_of(rows, "sequential")), ios_ms(latency_of(rows, "ios")) {}
  std::optional<double> sequential_ms, ios_ms;
};

std::optional<double> speedup(const std::optional<double>& baseline_ms, const scheduler::Row& row) {
  const double latency_ms = row.compared().latency_ms;
  if (!baseline_ms || !(latency_ms > 0)) return std::nullopt;
  return *baseline_ms / latency_ms;
}

/// A column: its title for people, its key for scripts, and its value for both.
struct Column {
  std::string title, key;
  std::function<std::string(const scheduler::Row&)> text;
  std::function<Json(const scheduler::Row&)> value;  ///< null: not known
  bool optional = false;                             ///< left out of the JSON where it is null
};

Column speedup_column(std::string title, std::string key, const std::optional<double>& over_ms) {
  const auto ratio = [over_ms](const scheduler::Row& row) { return speedup(over_ms, row); };
  return {std::move(title), std::move(key),
          [ratio](const scheduler::Row& row) {
            const auto value = ratio(row);
            return value ? fixed(*value, 2) + "x" : std::string("-");
          },
          [ratio](const scheduler::Row& row) {
            const auto value = ratio(row);
            return value ? Json(*value) : Json();
          },
          true};
}

/// Returns true if a bound is known.
bool bounded(const scheduler::Row& row) { return row.compared().bound != "none"; }

/// Returns nothing where the inputs are not divided.
std::optional<double> inputs_per_s(const scheduler::Row& row) {
  const double latency_ms = row.compared().latency_ms;
  if (!row.graph || !row.graph->batching() || !(latency_ms > 0)) return std::nullopt;
  return 1000 * static_cast<double>(row.graph->batching()->inputs) / latency_ms;
}

Column rate_column() {
  return {"inputs/s", "inputs_per_s",
          [](const scheduler::Row& row) {
            const auto rate = inputs_per_s(row);
            return rate ? fixed(*rate, 1) : std::string("-");
          },
          [](const scheduler::Row& row) {
            const auto rate = inputs_per_s(row);
            return rate ? Json(*rate) : Json();
          },
          true};
}

/// Returns the outcome for the compared objective: a schedule with an optimal latency has no proven
/// period.
Outcome outcome_of(const scheduler::Row& row) {
  const bool other = row.many && row.objective == Objective::kLatency;
  return other && row.outcome == Outcome::kOptimal ? Outcome::kFeasible : row.outcome;
}

/// Returns a column of the prediction for many inferences in flight.
template <class Value>
Column throughput_column(std::string title, std::string key, const Value& value,
                         const std::function<std::string(const PredictedThroughput&)>& text) {
  return {std::move(title), std::move(key),
          [text](const scheduler::Row& row) {
            const auto& many = row.compared().throughput;
            return many ? text(*many) : std::string("-");
          },
          [value](const scheduler::Row& row) {
            const auto& many = row.compared().throughput;
            return many ? Json(value(*many)) : Json();
          },
          true};
}

/// Returns the columns that come before the others where schedules are compared by their periods.
std::vector<Column> throughput_columns() {
  using Many = const PredictedThroughput&;
  return {throughput_column(
              "period ms", "period_ms", [](Many m) { return m.period_ms; },
              [](Many m) { return fixed(m.period_ms, 3); }),
          throughput_column(
              "inputs/s", "per_second", [](Many m) { return m.per_second; },
              [](Many m) { return fixed(m.per_second, 1); }),
          throughput_column(
              "in flight", "in_flight", [](Many m) { return m.in_flight; },
              [](Many m) { return std::to_string(m.in_flight); }),
          throughput_column(
              "bottleneck", "bottleneck", [](Many m) { return m.bottleneck; },
              [](Many m) { return m.bottleneck.empty() ? "-" : m.bottleneck; })};
}

/// Returns the columns of schedules that choose which operators are cut.
std::vector<Column> cut_columns() {
  using Row = const scheduler::Row&;
  return {{"cut", "cut_operators", [](Row r) { return std::to_string(r.cuts.size()); },
           [](Row r) { return Json(r.cuts.size()); }, true},
          {"without cuts", "latency_without_cuts_ms",
           [](Row r) { return r.whole ? fixed(r.whole->latency_ms, 3) : "-"; },
           [](Row r) { return r.whole ? Json(r.whole->latency_ms) : Json(); }, true},
          {"its bound", "lower_bound_without_cuts_ms",
           [](Row r) { return r.whole ? fixed(r.whole->lower_bound_ms, 3) : "-"; },
           [](Row r) { return r.whole ? Json(r.whole->lower_bound_ms) : Json(); }, true}};
}

using AllCompared = std::vector<Compared>;

/// Returns true if a row of any number of devices passes the test.
bool any_row(const AllCompared& all, const std::function<bool(const scheduler::Row&)>& test) {
  return std::ranges::any_of(
      all, [&](const Compared& one) { return std::ranges::any_of(one.rows, test); });
}

/// Returns the columns of a comparison, one list for the table, the CSV and the JSON. Speed-ups are
/// over `rows`, which are those of one number of devices.
std::vector<Column> columns(const AllCompared& compared, const std::vector<scheduler::Row>& rows) {
  const Baselines over(rows);
  using Row = const scheduler::Row&;
  const auto predicted = [](Row row) -> const Prediction& { return row.compared(); };
  std::vector<Column> all = {
      {"latency ms", "latency_ms", [=](Row r) { return fixed(predicted(r).latency_ms, 3); },
       [=](Row r) { return Json(predicted(r).latency_ms); }},
      speedup_column("vs sequential", "speedup_over_sequential", over.sequential_ms),
      speedup_column("vs ios", "speedup_over_ios", over.ios_ms),
      {"lower bound ms", "lower_bound_ms",
       [=](Row r) { return bounded(r) ? fixed(predicted(r).lower_bound_ms, 3) : "-"; },
       [=](Row r) { return Json(predicted(r).lower_bound_ms); }},
      {"bound", "bound", [=](Row r) { return predicted(r).bound; },
       [=](Row r) { return Json(predicted(r).bound); }},
      {"gap", "gap", [=](Row r) { return bounded(r) ? percent(predicted(r).gap()) : "-"; },
       [=](Row r) { return bounded(r) ? Json(predicted(r).gap()) : Json(); }},
      {"seconds", "seconds", [](Row r) { return fixed(r.seconds, 4); },
       [](Row r) { return Json(r.seconds); }},
      {compared.size() > 1 ? "used" : "devices", "devices_used",
       [](Row r) { return std::to_string(r.devices_used); },
       [](Row r) { return Json(r.devices_used); }},
      {"sent MB", "sent_bytes",
       [](Row r) {
         return r.sent_bytes ? fixed(static_cast<double>(*r.sent_bytes) / 1e6, 2) : "-";
       },
       [](Row r) { return r.sent_bytes ? Json(*r.sent_bytes) : Json(); }},
      {"waiting", "waiting_share", [](Row r) { return fixed(100 * r.waiting_share, 1) + " %"; },
       [](Row r) { return Json(r.waiting_share); }},
      {"estimated", "estimated_stages",
       [=](Row r) { return std::to_string(predicted(r).estimated_stages); },
       [=](Row r) { return Json(predicted(r).estimated_stages); }},
      {"outcome", "outcome", [](Row r) { return std::string(to_string(outcome_of(r))); },
       [](Row r) { return Json(to_string(outcome_of(r))); }},
  };
  if (any_row(compared, [](Row r) { return inputs_per_s(r).has_value(); })) {
    all.insert(all.begin() + 1, rate_column());
  }
  if (any_row(compared, [](Row r) { return r.whole.has_value(); })) {
    const std::vector<Column> of_cuts = cut_columns();
    all.insert(all.begin() + 1, of_cuts.begin(), of_cuts.end());
  }
  if (any_row(compared, [&](Row r) { return predicted(r).throughput.has_value(); })) {
    const std::vector<Column> first = throughput_columns();
    all.insert(all.begin(), first.begin(), first.end());
  }
  return all;
}

}  // namespace

Table comparison_table(const AllCompared& all) {
  const bool sweep = all.size() > 1;
  std::vector<std::string> head = {"algorithm"};
  if (sweep) head.emplace_back("devices");
  for (const Column& column : columns(all, {})) head.push_back(column.title);
  Table table(head, sweep ? 2 : 1);
  for (const Compared& one : all) {
    const std::vector<Column> of_rows = columns(all, one.rows);
    for (const scheduler::Row& row : one.rows) {
      std::vector<std::string> cells = {row.algorithm + (row.given.empty() ? "" : " (given)")};
      if (sweep) cells.push_back(std::to_string(one.devices));
      for (const Column& column : of_rows) cells.push_back(!row.refusal ? column.text(row) : "-");
      table.add(std::move(cells));
    }
  }
  return table;
}

std::string refusals_text(const AllCompared& all) {
  std::string lines;
  for (const Compared& one : all) {
    for (const scheduler::Row& row : one.rows) {
      if (!row.refusal) continue;
      const std::string where =
          all.size() > 1 ? " on " + std::to_string(one.devices) + " devices" : "";
      lines += row.algorithm + where + " refused: " + error_line(*row.refusal) + "\n";
    }
  }
  return lines;
}

namespace {

/// An algorithm that forms groups, and the one that it equals where devices have one stream.
struct Grouping {
  std::string_view algorithm, without_groups;
};
constexpr std::array kGroupings = {Grouping{"ios", "sequential"}, Grouping{"hios-lp", "inter-lp"},
                                   Grouping{"hios-mr", "inter-mr"}};

/// Returns ", and ios plans as sequential, hios-lp as inter-lp", for those among the algorithms.
std::string grouping_text(const std::vector<std::string>& algorithms) {
  std::string text;
  for (const auto& [algorithm, without_groups] : kGroupings) {
    if (std::find(algorithms.begin(), algorithms.end(), algorithm) == algorithms.end()) continue;
    text += text.empty() ? ", and " : ", ";
    text += std::string(algorithm) + (text == ", and " ? " plans as " : " as ");
    text += without_groups;
  }
  return text;
}

/// Returns nothing where every device has several streams.
std::string streams_note(const Platform& platform, const std::vector<std::string>& algorithms) {
  const auto devices = platform.devices();
  const auto single = std::count_if(devices.begin(), devices.end(),
                                    [](const Device& device) { return device.streams == 1; });
  if (single == 0) return {};
  const std::string which = platform.size() == 1 ? "the device has one stream"
                            : static_cast<std::size_t>(single) == platform.size()
                                ? "devices have one stream"
                                : std::to_string(single) + " of " +
                                      std::to_string(platform.size()) + " devices have one stream";
  return which + ": no operators run at the same time there" + grouping_text(algorithms) +
         " (a plan made with --streams, or for a --platform with streams, has more)\n";
}

/// Returns true if an operator takes longer on one device than on another, or cannot run there.
bool devices_differ(ScheduleInputs& inputs) {
  for (std::size_t i = 0; i < inputs.graph().size(); ++i) {
    for (std::size_t d = 1; d < inputs.platform().size(); ++d) {
      if (inputs.costs().operator_ms(OpId(i), DeviceId(d)) !=
          inputs.costs().operator_ms(OpId(i), DeviceId(0))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::string notes_text(const ScheduleInputs& inputs, const std::vector<std::string>& algorithms) {
  std::string notes = streams_note(inputs.platform(), algorithms);
  if (const auto ranks = inputs.extrapolated_from()) {
    notes += extrapolated_text(*ranks, inputs.platform().size()) + "\n";
  }
  return notes;
}

std::string one_device_note(const std::vector<scheduler::Row>& rows, ScheduleInputs& inputs) {
  if (inputs.sized() || !devices_differ(inputs)) return {};
  std::string names, device;
  for (const scheduler::Row& row : rows) {
    if (row.refusal || !row.given.empty() ||
        (row.algorithm != "sequential" && row.algorithm != "ios"))
      continue;
    names += (names.empty() ? "" : " and ") + row.algorithm;
    const auto& devices = row.schedule.devices;
    for (std::size_t d = 0; d < devices.size(); ++d) {
      if (!devices[d].empty()) device = inputs.platform().device(DeviceId(d)).name;
    }
  }
  if (names.empty()) return {};
  return names + ": on " + device + ", the fastest device that can run and hold all operators\n";
}

Table comparison_csv(const AllCompared& all,
                     const std::vector<std::pair<std::string, std::string>>& constants) {
  std::vector<std::string> head = {"algorithm"};
  for (const Column& column : columns(all, {})) head.push_back(column.key);
  for (const char* last : {"refused", "devices", "given"}) head.emplace_back(last);
  for (const auto& [name, value] : constants) head.push_back(name);
  Table table(head);
  for (const Compared& one : all) {
    const std::vector<Column> of_rows = columns(all, one.rows);
    for (const scheduler::Row& row : one.rows) {
      std::vector<std::string> cells = {row.algorithm};
      for (const Column& column : of_rows)
        cells.push_back(!row.refusal ? csv_text(column.value(row)) : "");
      cells.push_back(row.refusal ? error_line(*row.refusal) : "");
      cells.push_back(std::to_string(one.devices));
      cells.push_back(row.given);
      for (const auto& [name, value] : constants) cells.push_back(value);
      table.add(std::move(cells));
    }
  }
  return table;
}

namespace {

Json row_json(const scheduler::Row& row, std::size_t devices, const std::vector<Column>& columns) {
  Json object = {{"algorithm", row.algorithm}, {"devices", devices}};
  if (!row.given.empty()) object["given"] = row.given;
  if (row.refusal) {
    object["refused"] = error_line(*row.refusal);
    return object;
  }
  for (const Column& column : columns) {
    Json value = column.value(row);
    if (!value.is_null() || !column.optional) object[column.key] = std::move(value);
  }
  return object;
}

}  // namespace

Json comparison_json(const AllCompared& all) {
  Json list = Json::array();
  for (const Compared& one : all) {
    const std::vector<Column> of_rows = columns(all, one.rows);
    for (const scheduler::Row& row : one.rows) list.push_back(row_json(row, one.devices, of_rows));
  }
  return list;
}

}  // namespace hios::cli
