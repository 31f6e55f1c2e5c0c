#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/json/json_io.h"
#include "hios/base/numbers/statistics.h"

/// What a report says of many inferences in flight ("throughput" of a report: docs/formats.md).
namespace hios {

/// Where a rank's time goes, in ms an inference that it takes part in.
struct ReportShares {
  std::optional<double> computing_ms;  ///< empty: its device computes behind its back
  double transferring_ms = 0;          ///< messages, and the model's input and output
  double waiting_ms = 0;
  double own_ms = 0;  ///< the executor's
};

struct ReportThroughput {
  std::size_t inferences = 0;  ///< inferences, of a batch each, in all measured runs
  std::size_t runs = 0;        ///< each from an empty pipeline to an empty one
  std::size_t in_flight = 1, copies = 1;
  std::size_t inputs = 1;          ///< different ones, in turn
  std::size_t window = 1;          ///< of how many inferences, at least, each period is the mean
  std::vector<double> periods_ms;  ///< by run; REQUIRES: not empty
  std::vector<bool> disturbed;     ///< by run
  std::optional<double> predicted_ms;               ///< period
  std::size_t bottleneck = 0;                       ///< the rank that is busy longest
  std::optional<std::size_t> predicted_bottleneck;  ///< of the first copy
  std::vector<ReportShares> ranks;
  std::size_t unlike = 0;  ///< inferences with other outputs than the same input gave before

  Statistics period() const { return summarize(periods_ms, disturbed); }
  /// Inputs, each of a batch counted: by the mean of all periods.
  double per_second(std::int64_t batch) const;
  /// By the best quarter of the periods, as of latencies.
  std::optional<double> error() const;
};

Json to_json(const ReportThroughput& throughput, std::int64_t batch);

}  // namespace hios
