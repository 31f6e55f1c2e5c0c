#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"
#include "hios/base/numbers/precision.h"
#include "hios/base/numbers/statistics.h"
#include "hios/evaluate/timeline.h"
#include "hios/report/throughput.h"
#include "hios/schedule/schedule.h"

/// `hios-report`: what a run measured, and under which circumstances. Written only;
/// scripts read it (schedules/schemas/hios-report.json).
namespace hios {

/// Where one rank ran and what it held; in a report at its rank's place.
struct ReportRank {
  std::string host;
  std::vector<int> cores;  ///< as the operating system numbers them; empty: not pinned
  int threads = 1;
  Json backend = Json::object();  ///< Backend::describe()
  Bytes arena_bytes = 0;          ///< the peak, tensors sharing places
  Bytes all_tensors_bytes = 0;    ///< had none shared
  Bytes sent_bytes = 0;           ///< an iteration
  Bytes input_bytes = 0;          ///< the model's input
  Bytes weights_bytes = 0;        ///< in all layouts that its operators read
  Bytes scratch_bytes = 0;        ///< working memory of operators
  Bytes memory_bytes = 0;         ///< what its device has, by the schedule; 0: no limit
  Bytes held_bytes() const { return arena_bytes + input_bytes + weights_bytes + scratch_bytes; }
};

/// What comparing with another backend found.
struct ReportVerification {
  std::string reference;      ///< the backend that computed the expected values
  std::size_t operators = 0;  ///< whose outputs were compared
  double max_abs = 0;         ///< not finite where a NaN was found; then written as null
  double max_rel = 0;         ///< the same
  Precision precision =
      Precision::kFp32;         ///< the roughest arithmetic of a rank, which the tolerance is for
  double atol = 0, rtol = 0;    ///< the tolerance
  std::size_t outside = 0;      ///< values beyond it
  std::string worst_operator;   ///< where max_abs stands; empty: nowhere
  std::optional<bool> bitwise;  ///< equal to one rank, bit by bit; empty: not compared
  std::string first_unequal;    ///< the first operator that is not; empty: none
  bool passed = true;
};

/// One operator of the schedule, where and how long it ran.
struct ReportOperator {
  OpId op;
  std::size_t rank = 0;
  std::size_t stage = 0;               ///< of its rank
  std::optional<double> predicted_ms;  ///< alone, by the profile
  std::optional<double> measured_ms;   ///< empty: not known
  Bytes output_bytes = 0;
  Bytes sent_bytes = 0;  ///< to all other ranks together
};

struct Report {
  std::vector<std::string> arguments;  ///< of the command line, the program's name first
  Json versions = Json::object();
  std::string date;                   ///< of the run's start, UTC; empty: not known
  Json environment = Json::object();  ///< variables that times depend on, by name
  std::vector<ReportRank> ranks;
  std::string transfer_path;           ///< Transport::path()
  std::optional<Json> transfer_paths;  ///< of every pair of ranks, where devices send tensors
  std::string graph_digest, schedule_digest;
  std::optional<std::string> profile_digest;
  std::string model;
  std::int64_t batch = 0, height = 0, width = 0;
  std::string algorithm;
  std::uint64_t seed = 0;
  Json protocol = Json::object();  ///< warm-up, iterations
  /// Of runs of one inference at a time; of many in flight, the latency of each. REQUIRES: not
  /// empty.
  std::vector<double> iterations_ms;
  /// By iteration: the machine of some rank did something else. Empty: it never did.
  std::vector<bool> disturbed;
  std::vector<double> percentiles;  ///< to be reported beside the usual ones, in percent
  std::optional<double> predicted_ms;
  double overhead_ms = 0;  ///< of the executor, outside kernels and waits; with either of the next
  std::optional<ReportThroughput> throughput;  ///< of many inferences in flight
  std::optional<ReportVerification> verified;
  Schedule schedule;                      ///< what ran
  std::optional<Timeline> predicted;      ///< with a profile
  std::optional<Timeline> measured;       ///< of one iteration, after those of iterations_ms
  std::vector<ReportOperator> operators;  ///< as they started; empty: not asked for
  std::string incomplete;  ///< why it does not hold all that was asked for; empty: it does
};

/// (measured − predicted) / measured, signed. REQUIRES: measured_ms > 0.
double prediction_error(double measured_ms, double predicted_ms);

/// The whole file. Latencies are summarised here, and the prediction judged by their best_quarter;
/// `graph` names the schedule's operators. REQUIRES: the timelines are those of the schedule.
Json to_json(const Report& report, const Graph& graph);

}  // namespace hios
