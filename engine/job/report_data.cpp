#include "engine/job/report_data.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "engine/emulated/emulation.h"
#include "engine/job/run_job.h"
#include "mpi/exchange.h"

namespace hios::job {

namespace {

/// The facts of a ReportRank that ranks exchange.
struct RankFacts {
  ReportRank rank;
  static auto fields(auto& self) {
    auto& rank = self.rank;
    return std::tie(rank.host, rank.cores, rank.threads, rank.backend, rank.arena_bytes,
                    rank.all_tensors_bytes, rank.sent_bytes);
  }
};

}  // namespace

std::vector<ReportRank> gather_ranks(mpi::Transport& transport, const RankBackend& mine,
                                     const RankPlan& plan) {
  RankFacts facts;
  facts.rank.host = transport.host();
  facts.rank.cores = mine.cores;
  facts.rank.threads = mine.backend->threads();
  facts.rank.backend = mine.backend->describe();
  facts.rank.arena_bytes = plan.tensor_bytes();
  facts.rank.all_tensors_bytes = plan.all_tensors_bytes;
  for (const PlannedMessage& message : plan.sends) facts.rank.sent_bytes += message.size_bytes();
  std::vector<ReportRank> ranks;
  for (RankFacts& each : mpi::gather(transport, facts)) ranks.push_back(std::move(each.rank));
  return ranks;
}

void note_memory(std::vector<ReportRank>& ranks, const std::vector<MemoryEstimate>& held,
                 std::span<const Device> devices) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks[r].input_bytes = held[r].input;
    ranks[r].weights_bytes = held[r].parameters;
    ranks[r].scratch_bytes = held[r].scratch;
    ranks[r].memory_bytes = devices[r % devices.size()].memory_bytes;
  }
}

Timeline gather_timeline(mpi::Transport& transport, double latency_ms, const RankTimeline& mine) {
  Timeline timeline = join(mpi::gather(transport, mine));
  timeline.latency_ms = latency_ms;
  return timeline;
}

std::optional<double> predicted_ms(const RunInputs& inputs, const RunResults& results) {
  if (results.inferences) {
    return results.predicted_inferences ? results.predicted_inferences->latency_ms : std::nullopt;
  }
  if (results.predicted) return results.predicted->latency_ms;
  if (inputs.schedule.has_prediction) return inputs.schedule.predicted.latency_ms;
  return std::nullopt;
}

namespace {

ReportVerification report_verification(const RunSetup& setup, const Verified& verified,
                                       const char* reference) {
  ReportVerification report;
  report.reference = reference;
  report.operators = verified.operators;
  report.max_abs = verified.worst.max_abs;
  report.max_rel = verified.worst.max_rel;
  report.precision = setup.precision;
  report.atol = setup.tolerance.atol;
  report.rtol = setup.tolerance.rtol;
  report.outside = verified.worst.outside;
  report.worst_operator = verified.worst_operator;
  if (verified.compared_bits) {
    report.bitwise = verified.bitwise();
    report.algorithms = setup.algorithms;
  }
  report.first_unequal = verified.first_unequal;
  report.passed = verified.passed();
  return report;
}

/// Returns the rank that is busy longest; with asynchronous devices, whose computing time is not
/// known, the rank that waits least.
std::size_t bottleneck_of(const std::vector<RankOfInferences>& ranks) {
  const bool known = std::ranges::all_of(ranks, &RankOfInferences::knows_computing);
  std::size_t found = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].idle) continue;
    const TimeShares& each = ranks[r].each;
    const double busy = known ? each.total_ms() - each.waiting_ms : -each.waiting_ms;
    if (busy <= most) continue;
    most = busy;
    found = r;
  }
  return found;
}

ReportThroughput report_throughput(const RunResults& results) {
  const MeasuredInferences& measured = *results.inferences;
  ReportThroughput report;
  report.inferences = measured.inferences;
  report.runs = measured.runs;
  report.in_flight = measured.options.in_flight;
  report.copies = measured.options.copies;
  report.distinct_inputs = measured.options.inputs;
  report.window = measured.window;
  report.periods_ms = measured.periods_ms;
  report.disturbed = measured.disturbed_periods;
  report.unlike = measured.unlike;
  report.bottleneck = bottleneck_of(measured.ranks);
  if (results.predicted_inferences) {
    report.predicted_ms = results.predicted_inferences->period_ms;
    report.predicted_bottleneck = results.predicted_inferences->bottleneck;
  }
  for (const RankOfInferences& rank : measured.ranks) {
    report.ranks.push_back(
        {rank.knows_computing ? std::optional(rank.each.computing_ms) : std::nullopt,
         rank.each.transferring_ms, rank.each.waiting_ms, rank.each.own_ms});
  }
  return report;
}

/// The gap that the schedule's file states; nothing where it states no latency or no bound.
std::optional<double> planned_gap(const ScheduleFile& plan) {
  const bool bounded = plan.has_prediction && plan.predicted.lower_bound_ms > 0;
  if (!bounded || plan.objective != Objective::kLatency) return std::nullopt;
  return plan.predicted.gap();
}

}  // namespace

Report make_report(const RunInputs& inputs, const RunOptions& options, const RunSetup& setup,
                   const RunResults& results) {
  const Model& model = inputs.network.model;
  Report report;
  report.ranks = setup.ranks;
  if (!results.held.empty()) note_memory(report.ranks, results.held, inputs.schedule.devices);
  report.transfer_path = setup.transfer_path;
  report.transfer_paths = setup.transfer_paths;
  report.graph_digest = inputs.network.coarse.graph.digest();
  report.schedule_digest = schedule_digest(inputs);
  if (inputs.profile) report.profile_digest = inputs.profile->digest();
  report.model = model.name();
  report.batch = model.batch();
  report.height = model.height();
  report.width = model.width();
  report.algorithm = inputs.schedule.algorithm;
  report.seed = options.seed;
  report.protocol = options.protocol.json();
  report.protocol["executor"] = options.any_order ? "ready" : "fifo";
  if (inputs.machine) {
    report.machine_digest = emulated::digest_of_times(*inputs.machine, inputs.schedule.schedule);
    report.protocol["emulated"] = Json{{"time_scale", inputs.machine->time_scale}};
  }
  if (options.blocking) report.protocol["blocking"] = true;  // times are not comparable
  if (!results.recording_refused.empty()) {
    report.protocol["recording_refused"] = results.recording_refused;
  }
  report.iterations_ms = results.iterations_ms;
  report.disturbed = results.disturbed;
  report.predicted_ms = predicted_ms(inputs, results);
  report.gap = planned_gap(inputs.schedule);
  report.overhead_ms = results.overhead_ms;
  if (results.verified)
    report.verified =
        report_verification(setup, *results.verified, inputs.machine ? "emulated" : "reference");
  report.schedule = inputs.schedule.schedule;
  for (const Store& store : inputs.schedule.stores) report.stores.push_back(store.name);
  report.cold_walls = results.cold_walls;
  report.predicted = results.predicted;
  report.measured = results.measured;
  report.operators = results.operators;
  if (results.inferences && !results.inferences->periods_ms.empty())
    report.throughput = report_throughput(results);
  return report;
}

}  // namespace hios::job
