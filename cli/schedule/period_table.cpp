#include "cli/schedule/period_table.h"

#include <algorithm>
#include <limits>

#include "cli/process/stop_request.h"
#include "cli/table.h"
#include "engine/host/clock.h"
#include "hios/base/error.h"
#include "hios/evaluate/blocks.h"

namespace hios::cli {
namespace {

using scheduler::Deadline;
using scheduler::LowerBound;
using scheduler::pipeline::PeriodBound;
using scheduler::pipeline::PeriodBoundResult;
using scheduler::pipeline::PeriodKnowledge;
using scheduler::pipeline::proves;

constexpr double kRounding = 1e-9;  ///< sums of the same times in another order
constexpr double kLongestLimit = 1e6;

/// Whether the row has blocks that form no cycle: only those have bounds.
bool is_bounded(const ScheduleRun& run) {
  return run.refusal.empty() && run.graph && run.many && run.many->bound != "none";
}

double longest_block_ms(const ScheduleRun& run) {
  return period_of(*run.graph, run.file.schedule, *run.costs).ms();
}

/// What the runs know: the shortest period and the closest bound.
struct Known {
  const ScheduleRun* shortest = nullptr;
  double period_ms = std::numeric_limits<double>::infinity();
  LowerBound bound;

  explicit Known(const std::vector<ScheduleRun>& runs) {
    for (const ScheduleRun& run : runs) {
      if (!is_bounded(run)) continue;
      if (run.many->lower_bound_ms > bound.ms) bound = {run.many->lower_bound_ms, run.many->bound};
      const double ms = longest_block_ms(run);
      if (ms >= period_ms) continue;
      period_ms = ms;
      shortest = &run;
    }
  }
  bool proven() const { return proves(bound, period_ms); }
};

/// The bound beside what the run predicts; the same of its file where that is for throughput.
void put_beside(const LowerBound& bound, ScheduleRun& run) {
  if (!is_bounded(run) || run.many->lower_bound_ms >= bound.ms) return;
  const double period_ms = run.many->objective_ms();
  const double ms =
      bound.ms <= period_ms * (1 + kRounding) ? std::min(bound.ms, period_ms) : bound.ms;
  if (ms > period_ms) {
    throw RunError("the bound of periods " + quote(bound.name) + " is above the period of " +
                   run.algorithm);
  }
  run.many->lower_bound_ms = ms;
  run.many->bound = bound.name;
  if (run.file.objective != Objective::kThroughput) return;
  run.file.predicted = *run.many;
  if (proves(bound, period_ms)) run.file.outcome = Outcome::kOptimal;
}

/// One bound, and its row: without a value where it ended before it was closer.
PeriodRow look_for(PeriodBound which, const Known& known, ScheduleInputs& inputs,
                   const Deadline& deadline, LowerBound& found) {
  const Stopwatch stopwatch;
  PeriodKnowledge knowledge;
  if (which != PeriodBound::kSimple) knowledge.at_least_ms = known.bound.ms;
  knowledge.known_ms = known.period_ms;
  knowledge.known = &known.shortest->file.schedule;
  knowledge.deadline = deadline;
  PeriodBoundResult result = period_bound(which, inputs.graph(), inputs.costs(), knowledge);
  found = std::move(result.bound);
  const bool in_vain = !result.remark.empty() && found.ms <= knowledge.at_least_ms;
  return {found.name, in_vain ? 0 : found.ms, stopwatch.seconds(), std::move(result.remark)};
}

}  // namespace

boost::program_options::options_description bound_flags() {
  boost::program_options::options_description group("Bounds of the period", 100, 45);
  group.add_options()(
      "bounds", value("NAME[,NAME...]|all")->default_value("simple,downsets"),
      "what no blocks that form no cycle can be below, with --objective throughput: "
      "simple, downsets, bottleneck, bottleneck-guess, exact (docs/throughput.md)");
  group.add_options()("bound-time-limit", value("SECONDS")->default_value("10"),
                      "of all these bounds together, behind the schedulers");
  return group;
}

AskedBounds read_bounds(const Flags& flags) {
  if (flags.text("objective") != to_string(Objective::kThroughput)) {
    for (const char* flag : {"bounds", "bound-time-limit"}) {
      if (flags.written(flag)) {
        throw InputError(std::string("--") + flag + " is for periods: say --objective throughput");
      }
    }
  }
  AskedBounds asked;
  try {
    asked.which = scheduler::pipeline::period_bounds_named(flags.list("bounds"));
  } catch (const InputError& error) {
    throw InputError(std::string("--bounds: ") + error.what());
  }
  asked.time_limit_s = flags.number("bound-time-limit", 0, kLongestLimit);
  if (asked.time_limit_s == 0) throw InputError("--bound-time-limit takes more than 0 seconds");
  return asked;
}

std::vector<PeriodRow> bound_periods(std::vector<ScheduleRun>& runs, ScheduleInputs& inputs,
                                     const AskedBounds& asked) {
  std::vector<PeriodRow> rows;
  Known known(runs);
  if (known.shortest == nullptr) return rows;
  const Stopwatch stopwatch;
  const Deadline all(
      StopRequest::asked, [&] { return stopwatch.seconds(); }, asked.time_limit_s);
  for (std::size_t i = 0; i < asked.which.size(); ++i) {
    const PeriodBound which = asked.which[i];
    // An equal part of what those before have left.
    const Deadline own = all.share(1 / static_cast<double>(asked.which.size() - i));
    const bool simple = which == PeriodBound::kSimple;
    const std::string name(to_string(which));
    if (!simple && known.proven() && known.bound.name == name) {
      rows.push_back({name, known.bound.ms, 0, "proved beside the schedule"});
      continue;
    }
    if (!simple && (known.proven() || own.expired())) {
      rows.push_back({name, 0, 0, known.proven() ? "not needed any more" : "no time was left"});
      continue;
    }
    LowerBound found;
    rows.push_back(look_for(which, known, inputs, own, found));
    if (found.ms > known.bound.ms) known.bound = std::move(found);
  }
  for (ScheduleRun& run : runs) put_beside(known.bound, run);
  return rows;
}

std::string period_bounds_text(const std::vector<PeriodRow>& rows) {
  if (std::ranges::all_of(rows, [](const PeriodRow& row) { return row.name == "simple"; }))
    return {};
  Table table({"bound", "period ms", "seconds"});
  std::string remarks;
  for (const PeriodRow& row : rows) {
    table.add({row.name, row.ms > 0 ? fixed(row.ms, 3) : "-", fixed(row.seconds, 3)});
    if (!row.remark.empty()) remarks += row.name + ": " + row.remark + "\n";
  }
  return "\n" + table.text() + remarks;
}

Json period_bounds_json(const std::vector<PeriodRow>& rows) {
  Json list = Json::array();
  for (const PeriodRow& row : rows) {
    Json each = {{"bound", row.name}, {"seconds", row.seconds}};
    if (row.ms > 0) each["lower_bound_ms"] = row.ms;
    if (!row.remark.empty()) each["remark"] = row.remark;
    list.push_back(std::move(each));
  }
  return list;
}

}  // namespace hios::cli
