#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/owned_json.h"
#include "hios/base/numbers/precision.h"
#include "hios/base/numbers/statistics.h"
#include "hios/evaluate/timeline.h"
#include "hios/report/cold_walls.h"
#include "hios/report/throughput.h"
#include "hios/report/why.h"
#include "hios/schedule/schedule.h"

/// Files of the format `hios-report` version 1: measurements of a run, and its circumstances.
/// Programs only write them; scripts read them (schedules/schemas/hios-report.json).
namespace hios {

/// The host, cores and memory of one rank; its index in a report is the rank.
struct ReportRank {
  std::string host;
  std::vector<int> cores;  ///< numbers of the operating system; empty: not pinned
  int threads = 1;
  OwnedJson backend = {};       ///< Backend::describe()
  Bytes arena_bytes = 0;        ///< peak of the arena, whose slots tensors share
  Bytes all_tensors_bytes = 0;  ///< size without sharing slots
  Bytes sent_bytes = 0;         ///< bytes sent in an iteration
  Bytes input_bytes = 0;        ///< size of the model's input
  Bytes weights_bytes = 0;      ///< weights in all layouts that its operators read
  Bytes scratch_bytes = 0;      ///< working memory of operators
  Bytes memory_bytes = 0;       ///< its device's memory by the schedule; 0: no limit
  Bytes held_bytes() const { return arena_bytes + input_bytes + weights_bytes + scratch_bytes; }
};

/// The origin of the algorithms by which all ranks of a run compute (Backend::algorithms). Each
/// operator counts once.
struct ReportAlgorithms {
  std::string source;            ///< in words: "the algorithms of profile.json"
  std::size_t from_profile = 0;  ///< operators whose algorithms the profile names
  std::size_t chosen = 0;        ///< operators for which rank 0 chose
  std::size_t by_default = 0;    ///< the others: nothing was to be chosen, or nothing was
  std::string digest;            ///< of all algorithms that the profile names or rank 0 chose
};

/// The result of a comparison with another backend.
struct ReportVerification {
  std::string reference;      ///< the backend that computed the expected values
  std::size_t operators = 0;  ///< number of operators whose outputs were compared
  double max_abs = 0;         ///< not finite where a NaN was found; then written as null
  double max_rel = 0;         ///< likewise
  Precision precision =
      Precision::kFp32;         ///< the lowest precision of a rank, which decides the tolerance
  double atol = 0, rtol = 0;    ///< the tolerance
  std::size_t outside = 0;      ///< values beyond it
  std::string worst_operator;   ///< operator with max_abs; empty: none
  std::optional<bool> bitwise;  ///< true: bits equal those of one rank; empty: not compared
  std::string first_unequal;    ///< first operator whose bits differ; empty: none
  /// The algorithms of the run and of that one rank; empty: bits were not compared.
  std::optional<ReportAlgorithms> algorithms;
  bool passed = true;
};

/// The result of a comparison of an output with the values of a file.
struct ReportReference {
  std::string output;  ///< its name
  std::string file;
  double max_abs = 0;         ///< not finite where a NaN was found; then written as null
  double max_rel = 0;         ///< likewise
  double atol = 0, rtol = 0;  ///< the tolerance
  std::size_t outside = 0;    ///< values beyond it
  bool bitwise = false;       ///< all bits are the file's
  bool passed() const { return outside == 0; }
};

/// The rank, stage and times of an operator.
struct ReportOperator {
  OpId op;
  std::size_t rank = 0;
  std::size_t stage = 0;               ///< index among its rank's stages
  std::optional<double> predicted_ms;  ///< time alone, by the profile
  std::optional<double> measured_ms;   ///< empty: not known
  Bytes output_bytes = 0;
  Bytes sent_bytes = 0;  ///< bytes sent to all other ranks together
};

struct Report {
  std::vector<std::string> arguments;  ///< the command line, the program's name first
  OwnedJson versions = {};
  std::string date;            ///< start of the run, UTC; empty: not known
  OwnedJson environment = {};  ///< variables that influence times, by name
  std::vector<ReportRank> ranks;
  std::string transfer_path;  ///< Transport::path()
  std::optional<OwnedJson>
      transfer_paths;  ///< paths of every pair of ranks, where devices send tensors
  std::string graph_digest, schedule_digest;
  std::optional<std::string> profile_digest;
  std::optional<std::string> machine_digest;  ///< of an emulated machine's times and buses
  std::string model;
  std::int64_t batch = 0, height = 0, width = 0;
  std::string algorithm;
  std::uint64_t seed = 0;
  OwnedJson protocol = {};  ///< warm-up, iterations
  /// The latency of each iteration, or of each of many inferences in flight. REQUIRES: not empty.
  std::vector<double> iterations_ms;
  /// By iteration, true if the machine of some rank did something else. Empty: it never did.
  std::vector<bool> disturbed;
  std::vector<double> percentiles;  ///< percentiles to report in addition to the usual ones
  std::optional<double> predicted_ms;
  /// (latency − lower bound) / lower bound, as the schedule's file says.
  std::optional<double> gap;
  double overhead_ms = 0;               ///< the executor's own time, outside kernels and waits
  std::optional<ColdWalls> cold_walls;  ///< for a cold start
  std::optional<ReportThroughput> throughput;  ///< for many inferences in flight
  std::optional<ReportVerification> verified;
  std::vector<ReportReference> references;  ///< outputs that were compared with files
  Schedule schedule;                        ///< the schedule that ran
  std::vector<std::string> stores;          ///< names, by StoreId, for a schedule with weights
  std::optional<Timeline> predicted;        ///< with a profile
  std::optional<Timeline> measured;       ///< times of one iteration, after those of iterations_ms
  std::vector<ReportOperator> operators;  ///< in the order of their starts; empty: not requested
  std::optional<Why> why;  ///< the reasons for the latency; empty: nothing was recorded
  std::string incomplete;  ///< reason why the report is incomplete; empty: it is complete
};

/// Returns (measured − predicted) / measured, signed. REQUIRES: measured_ms > 0.
double prediction_error(double measured_ms, double predicted_ms);

/// Returns the whole file. Latencies are summarised here, and the prediction is compared with their
/// best_quarter; `graph` names the schedule's operators. REQUIRES: the timelines belong to the
/// schedule.
Json to_json(const Report& report, const Graph& graph);

}  // namespace hios
