#include "cli/schedule/period_table.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/process/output.h"
#include "cli/table.h"
#include "hios/base/error.h"

namespace hios::cli {
namespace {

using scheduler::PeriodRow;

constexpr double kLongestLimit = 1e6;

}  // namespace

boost::program_options::options_description bound_flags() {
  boost::program_options::options_description group("Bounds of the period", 100, 45);
  group.add_options()(
      "bounds", value("NAME[,NAME...]|all")->default_value("simple,downsets"),
      "lower bounds of the period of blocks that form no cycle, with --objective throughput: "
      "simple, downsets, bottleneck, bottleneck-guess, exact (docs/throughput.md)");
  group.add_options()("bound-time-limit", value("SECONDS")->default_value("10"),
                      "time for all these bounds together, after the schedulers");
  return group;
}

std::vector<std::string> bound_names() {
  std::vector<std::string> names;
  for (const auto bound : scheduler::pipeline::period_bounds_named({"all"}))
    names.emplace_back(to_string(bound));
  return names;
}

RequestedBounds read_bounds(const Flags& flags) {
  if (flags.text("objective") != to_string(Objective::kThroughput)) {
    for (const char* flag : {"bounds", "bound-time-limit"}) {
      if (flags.written(flag)) {
        throw InputError(std::string("--") + flag + " is for periods: give --objective throughput");
      }
    }
  }
  RequestedBounds requested;
  try {
    requested.which = scheduler::pipeline::period_bounds_named(flags.list("bounds"));
  } catch (const InputError& error) {
    throw InputError(std::string("--bounds: ") + error.what());
  }
  requested.time_limit_s = flags.number("bound-time-limit", 0, kLongestLimit);
  if (requested.time_limit_s == 0) throw InputError("--bound-time-limit takes more than 0 seconds");
  return requested;
}

std::string period_bounds_text(const std::vector<PeriodRow>& rows) {
  if (std::ranges::all_of(rows, [](const PeriodRow& row) { return row.name == "simple"; }))
    return {};
  Table table({"bound", "alone ms", "largest so far ms", "seconds"});
  std::string remarks;
  for (const PeriodRow& row : rows) {
    table.add({row.name, row.ms > 0 ? fixed(row.ms, 3) : "-",
               row.largest_ms > 0 ? fixed(row.largest_ms, 3) : "-", fixed(row.seconds, 3)});
    if (!row.remark.empty()) remarks += row.name + ": " + row.remark + "\n";
  }
  return "\n" + table.text(line_width()) + remarks;
}

Json period_bounds_json(const std::vector<PeriodRow>& rows) {
  Json list = Json::array();
  for (const PeriodRow& row : rows) {
    Json each = {
        {"bound", row.name}, {"largest_lower_bound_ms", row.largest_ms}, {"seconds", row.seconds}};
    if (row.ms > 0) each["lower_bound_ms"] = row.ms;
    if (!row.remark.empty()) each["remark"] = row.remark;
    list.push_back(std::move(each));
  }
  return list;
}

}  // namespace hios::cli
