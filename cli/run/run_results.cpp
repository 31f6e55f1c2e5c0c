#include "cli/run/run_results.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/table.h"
#include "cli/version.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/schedule/assignment.h"

namespace hios::cli {

namespace {

std::string megabytes(Bytes size_bytes) { return fixed(static_cast<double>(size_bytes) / 1e6, 1); }

std::string cores_text(const std::vector<int>& cores) {
  if (cores.empty()) return "not pinned";
  std::string text;
  for (const int core : cores) text += (text.empty() ? "" : ",") + std::to_string(core);
  return text;
}

std::string op_name(const RunJob& job, OpId op) { return job.network.coarse.graph.op(op).name; }

std::string step_text(const RunJob& job, const RankPlan& plan, const Step& step) {
  const auto message = [&](const PlannedMessage& m, const char* way) {
    return op_name(job, m.op) + " " + way + " rank " + std::to_string(m.peer.index()) + " (" +
           std::to_string(m.size_bytes) + " bytes)";
  };
  if (const auto* s = std::get_if<AwaitReceive>(&step))
    return "await " + message(plan.receives[s->receive], "from");
  if (const auto* s = std::get_if<AwaitSend>(&step))
    return "await the end of sending " + message(plan.sends[s->send], "to");
  if (const auto* s = std::get_if<StartSend>(&step))
    return "send " + message(plan.sends[s->send], "to");
  std::string text = "compute";
  for (const Group& group : plan.stages[std::get<Compute>(step).stage].groups) {
    text += " [";
    for (const OpId op : group) text += (text.back() == '[' ? "" : " ") + op_name(job, op);
    text += "]";
  }
  return text;
}

}  // namespace

std::vector<ReportRank> gather_ranks(mpi::Transport& transport, const RankBackend& mine,
                                     const RankPlan& plan) {
  Bytes sent = 0;
  for (const PlannedMessage& message : plan.sends) sent += message.size_bytes;
  const Json facts = {transport.host(),
                      mine.cores,
                      mine.backend->threads(),
                      mine.backend->describe(),
                      plan.arena_bytes,
                      plan.all_tensors_bytes,
                      sent};
  std::vector<ReportRank> ranks;
  for (const std::string& text : transport.all_gather(facts.dump())) {
    const Json json = parse_json(text, "facts of a rank");
    ranks.push_back({json[0], json[1], json[2], json[3], json[4], json[5], json[6]});
  }
  return ranks;
}

std::vector<std::vector<StageClock>> gather_clocks(mpi::Transport& transport,
                                                   const std::vector<StageClock>& mine) {
  Json list = Json::array();
  for (const StageClock& clock : mine)
    list.push_back({clock.awaited_ms, clock.start_ms, clock.end_ms});
  std::vector<std::vector<StageClock>> all;
  for (const std::string& text : transport.all_gather(list.dump())) {
    std::vector<StageClock> clocks;
    for (const Json& clock : parse_json(text, "clocks of a rank"))
      clocks.push_back({clock[0], clock[1], clock[2]});
    all.push_back(std::move(clocks));
  }
  return all;
}

void print_setup(const RunJob& job, const mpi::Transport& transport,
                 const std::vector<ReportRank>& ranks, const std::string& paths) {
  if (transport.rank() != Rank(0) || log::level() == log::Level::kQuiet) return;
  std::printf("%s, %s schedule, %zu ranks, %s\n\n", describe(job.network.model).c_str(),
              job.schedule.algorithm.c_str(), ranks.size(), transport.path().c_str());
  Table table({"rank", "host", "backend", "cores", "stages", "tensors MB", "of all MB", "sent MB"});
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    table.add({std::to_string(r), ranks[r].host, job.backends[r], cores_text(ranks[r].cores),
               std::to_string(job.schedule.schedule.devices[r].size()),
               megabytes(ranks[r].arena_bytes), megabytes(ranks[r].all_tensors_bytes),
               megabytes(ranks[r].sent_bytes)});
  }
  std::printf("%s\n", table.text().c_str());
  if (!paths.empty()) std::printf("%s\n", paths.c_str());
}

void print_dry_run(const RunJob& job, mpi::Transport& transport, const RankPlan& plan) {
  std::string text;
  for (const Step& step : plan.steps) text += "  " + step_text(job, plan, step) + "\n";
  const std::vector<std::string> all = transport.all_gather(text);
  if (transport.rank() != Rank(0)) return;
  for (std::size_t r = 0; r < all.size(); ++r) std::printf("rank %zu\n%s", r, all[r].c_str());
}

std::optional<double> predicted_ms(const RunJob& job, const RunResults& results) {
  if (results.predicted) return results.predicted->latency_ms;
  if (job.schedule.has_prediction) return job.schedule.predicted.latency_ms;
  return std::nullopt;
}

Timeline measured_timeline(const RunJob& job, const RecordedRun& recorded) {
  const Schedule& schedule = job.schedule.schedule;
  const Assignment assignment(job.network.coarse.graph.size(), schedule);
  Timeline timeline;
  timeline.latency_ms = recorded.latency_ms;
  for (const std::vector<StageClock>& clocks : recorded.clocks) {
    std::vector<StageTimes>& stages = timeline.stages.emplace_back();
    for (const StageClock& clock : clocks) {
      stages.push_back({clock.awaited_ms, 0, clock.start_ms, clock.end_ms});
    }
  }
  for (std::size_t r = 0; r < schedule.devices.size(); ++r) {
    const RankPlan plan = plan_rank(job.network.coarse, schedule, Rank(r));
    for (const PlannedMessage& message : plan.receives) {
      const AssignedTo& from = assignment[message.op];
      timeline.transfers.push_back({message.op, from.device, DeviceId(r),
                                    timeline.stages[from.device.index()][from.stage].end_ms,
                                    timeline.stages[r][message.stage].start_ms,
                                    message.size_bytes});
    }
  }
  sort_transfers(timeline.transfers);
  return timeline;
}

namespace {

ReportVerification report_verification(const RunJob& job, const Verified& verified) {
  ReportVerification report;
  report.reference = "reference";
  report.operators = verified.operators;
  report.max_abs = verified.worst.max_abs;
  report.max_rel = verified.worst.max_rel;
  report.precision = job.precision;
  report.atol = job.tolerance.atol;
  report.rtol = job.tolerance.rtol;
  report.outside = verified.worst.outside;
  report.worst_operator = verified.worst_operator;
  if (verified.compared_bits) report.bitwise = verified.bitwise();
  report.first_unequal = verified.first_unequal;
  report.passed = verified.passed();
  return report;
}

}  // namespace

Report make_report(const Flags& flags, const RunJob& job, const mpi::Transport& transport,
                   const std::vector<ReportRank>& ranks, const RunResults& results) {
  Report report;
  report.arguments = flags.arguments();
  report.versions = versions();
  report.ranks = ranks;
  report.transfer_path = transport.path();
  report.transfer_paths = results.transfer_paths;
  report.graph_digest = job.network.coarse.graph.digest();
  report.schedule_digest = job.schedule_digest;
  if (job.profile) report.profile_digest = job.profile->digest();
  report.model = job.network.model.name();
  report.batch = job.network.model.batch();
  report.height = job.network.model.height();
  report.width = job.network.model.width();
  report.algorithm = job.schedule.algorithm;
  report.seed = job.common.seed;
  report.protocol = job.protocol.json();
  if (job.devices.blocking) report.protocol["blocking"] = true;  // times are not comparable
  report.iterations_ms = results.iterations_ms;
  report.percentiles = job.percentiles;
  report.predicted_ms = predicted_ms(job, results);
  report.overhead_ms = results.recorded.overhead_ms;
  if (results.verified) report.verified = report_verification(job, *results.verified);
  report.schedule = job.schedule.schedule;
  report.predicted = results.predicted;
  report.measured = measured_timeline(job, results.recorded);
  return report;
}

namespace {

std::string verification_text(const RunJob& job, const Verified& verified) {
  char text[320];
  std::snprintf(text, sizeof text,
                "%zu %s compared: largest error %.3g (relative %.3g) in %s, %s (%s: %.3g + %.3g of "
                "the value); %s",
                verified.operators, verified.operators == 1 ? "operator" : "operators",
                verified.worst.max_abs, verified.worst.max_rel, verified.worst_operator.c_str(),
                verified.passed() ? "within the tolerance" : "BEYOND THE TOLERANCE",
                to_string(job.precision).data(), job.tolerance.atol, job.tolerance.rtol,
                !verified.compared_bits
                    ? "not compared with one rank, as backends or arithmetics differ by rank"
                : verified.bitwise() ? "bit for bit what one rank computes"
                                     : "NOT WHAT ONE RANK COMPUTES");
  return text;
}

}  // namespace

namespace {

/// One row for scripts: plain numbers, one value a cell.
Table results_csv(const Report& report, const Statistics& latency) {
  std::vector<std::string> columns = {
      "model",        "algorithm",        "ranks",       "min_ms",   "best_quarter_ms",
      "median_ms",    "p95_ms",           "p99_ms",      "mean_ms",  "samples",
      "predicted_ms", "prediction_error", "overhead_ms", "verified", "bitwise"};
  const bool predicted = report.predicted_ms.has_value();
  const auto checked = [&](bool ReportVerification::*what) {
    return report.verified ? std::to_string((*report.verified).*what) : "";
  };
  std::vector<std::string> cells = {
      report.model,
      report.algorithm,
      std::to_string(report.ranks.size()),
      exact(latency.min),
      exact(latency.best_quarter),
      exact(latency.median),
      exact(latency.p95),
      exact(latency.p99),
      exact(latency.mean),
      std::to_string(latency.samples),
      predicted ? exact(*report.predicted_ms) : "",
      predicted ? exact(prediction_error(latency.best_quarter, *report.predicted_ms)) : "",
      exact(report.overhead_ms),
      checked(&ReportVerification::passed),
      report.verified && report.verified->bitwise ? std::to_string(*report.verified->bitwise) : ""};
  for (const double p : report.percentiles) {
    columns.push_back("p" + exact(p) + "_ms");
    cells.push_back(exact(percentile(report.iterations_ms, p)));
  }
  Table table(columns);
  table.add(cells);
  return table;
}

Table results_table(const Report& report, const Statistics& latency) {
  Table table({"schedule", "min ms", "best quarter", "median", "p95", "p99", "mean", "runs",
               "predicted", "error"});
  const bool predicted = report.predicted_ms.has_value();
  table.add(
      {report.algorithm, fixed(latency.min, 3), fixed(latency.best_quarter, 3),
       fixed(latency.median, 3), fixed(latency.p95, 3), fixed(latency.p99, 3),
       fixed(latency.mean, 3), std::to_string(latency.samples),
       predicted ? fixed(*report.predicted_ms, 3) : "-",
       predicted ? percent(prediction_error(latency.best_quarter, *report.predicted_ms)) : "-"});
  return table;
}

}  // namespace

int print_results(const RunJob& job, const Report& report, const RunResults& results) {
  const Statistics latency = summarize(report.iterations_ms);
  if (job.common.csv)
    write_text(*job.common.csv, results_csv(report, latency).csv(), job.common.existing);
  show(results_table(report, latency).text());
  if (job.devices.blocking) {
    show("--blocking waited after every operator: these times are not comparable\n");
  }
  show("executor outside kernels and waits: " + fixed(report.overhead_ms, 3) + " ms (" +
       fixed(100 * report.overhead_ms / latency.best_quarter, 2) + " %)\n");
  for (const double p : report.percentiles) {
    show("p" + exact(p) + ": " + fixed(percentile(report.iterations_ms, p), 3) + " ms\n");
  }
  int status = 0;
  if (results.verified) {
    show(verification_text(job, *results.verified) + "\n");
    if (!results.verified->passed() || !results.verified->bitwise()) {
      log::error("verification failed: " + verification_text(job, *results.verified));
      status = static_cast<int>(ExitCode::kCheckFailed);
    }
  }
  if (!job.max_error || !report.predicted_ms) return status;
  const double error = prediction_error(latency.best_quarter, *report.predicted_ms);
  if (100 * std::abs(error) <= *job.max_error) return status;
  log::error("the prediction is off by " + percent(error) + ", more than --max-error " +
             exact(*job.max_error));
  return static_cast<int>(ExitCode::kCheckFailed);
}

}  // namespace hios::cli
