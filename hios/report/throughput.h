#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hios/base/json/json.h"
#include "hios/base/numbers/statistics.h"

/// The results of many inferences in flight ("throughput" of a report: docs/formats.md).
namespace hios {

/// The shares of a rank's time, in ms per inference that it takes part in.
struct ReportShares {
  std::optional<double> computing_ms;  ///< empty: its device computes asynchronously
  double transferring_ms = 0;          ///< messages, and the model's input and output
  double waiting_ms = 0;
  double own_ms = 0;  ///< the executor's own time
};

struct ReportThroughput {
  std::size_t inferences = 0;  ///< number in all measured runs, of a batch each
  std::size_t runs = 0;        ///< runs, each from an empty pipeline to an empty one
  std::size_t in_flight = 1, copies = 1;
  std::size_t distinct_inputs = 1;     ///< number of different inputs, used in turn
  std::size_t window = 1;              ///< least number of inferences in each period's mean
  std::vector<double> periods_ms;      ///< by run; REQUIRES: not empty
  std::vector<bool> disturbed;         ///< by run
  std::optional<double> predicted_ms;  ///< predicted period
  std::size_t bottleneck = 0;          ///< rank that is busy longest
  std::optional<std::size_t> predicted_bottleneck;  ///< in the first copy
  std::vector<ReportShares> ranks;
  std::size_t unlike = 0;  ///< inferences whose outputs differ from those of the same input before

  Statistics period() const { return summarize(periods_ms, disturbed); }
  /// Returns the inputs a second, each of a batch counted, by the mean of all periods.
  double per_second(std::int64_t batch) const;
  /// Returns the prediction error by the best quarter of the periods.
  std::optional<double> error() const;
};

Json to_json(const ReportThroughput& throughput, std::int64_t batch);

}  // namespace hios
