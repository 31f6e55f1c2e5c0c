#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// Transfers of a segment of an order, each tensor once (Archer and others, "Practical Performance
/// Guarantees for Pipelined DNN Inference", Eq. 1).
struct SegmentTraffic {
  double receive_ms = 0;
  double send_ms = 0;
};

/// The costs of all segments of an order of vertices with one end, for each end in turn:
///
///   SegmentScan scan(problem, order);
///   while (scan.advance()) {                      // the end, r = 0, 1, …
///     for (std::size_t l = scan.end() + 1; l-- > 0;) scan.extend();  // now [l, r]
///   }
///
/// A tensor is sent by the segments that begin at or before its producer and end before its last
/// consumer: for one end r, a sum over producers. It is received by segments that begin after its
/// producer and contain a consumer. When r reaches a consumer, the segments that begin after the
/// previous consumer, up to this one, are added: two entries in a table of differences. So all
/// segments take O(n² + E) time and O(n + E) memory; the paper's Lemma 4.1 has O(n² + E log² n) and
/// a table of n².
class SegmentScan {
 public:
  SegmentScan(const PipelineProblem& problem, std::span<const Vertex> order);

  /// Moves to the next end, with an empty segment. Returns false after the last.
  bool advance();
  std::size_t end() const { return end_; }

  /// Adds one vertex at the front. REQUIRES: there is one.
  void extend();
  std::size_t begin() const { return begin_; }
  const SegmentTraffic& traffic() const { return traffic_; }
  Bytes received_bytes() const { return static_cast<Bytes>(received_bytes_); }

  /// Return what extend() adds to traffic() for a vertex at this position, for callers that sum by
  /// themselves.
  double added_receive_ms(std::size_t position) const { return received_[position].ms; }
  double added_send_ms(std::size_t position) const { return open_ms_[position]; }

 private:
  struct Sent {
    double ms;
    std::size_t last;  ///< position of the last consumer
  };
  /// Differences of received transfers, by position.
  struct Received {
    double ms = 0;
    std::int64_t bytes = 0;
  };
  /// A received tensor of the segments whose end reaches a consumer.
  struct Arrival {
    std::size_t
        previous;  ///< position of the previous consumer or the producer: segments begin after it
    double ms;
    std::int64_t bytes;
  };

  std::vector<std::vector<Sent>> sent_;         // by the producer's position
  std::vector<std::vector<Arrival>> arrivals_;  // by the consumer's position
  // By the last consumer's position: the producers' positions.
  std::vector<std::vector<std::size_t>> closed_;
  std::vector<double> open_ms_;     // by the producer's position: transfers sent across end_
  std::vector<Received> received_;  // by position
  std::size_t end_ = 0, begin_ = 0;
  bool started_ = false;
  SegmentTraffic traffic_;
  std::int64_t received_bytes_ = 0;
};

}  // namespace hios::scheduler::pipeline
