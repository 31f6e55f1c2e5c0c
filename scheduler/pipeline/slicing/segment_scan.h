#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"

namespace hios::scheduler::pipeline {

/// What a segment of an order sends and receives, for each tensor once (Archer and others,
/// "Practical Performance Guarantees for Pipelined DNN Inference", Eq. 1).
struct SegmentTraffic {
  double receive_ms = 0;
  double send_ms = 0;
};

/// The costs of all segments of an order of vertices that end at one place, for each place in turn:
///
///   SegmentScan scan(problem, order);
///   while (scan.advance()) {                      // the end, r = 0, 1, …
///     for (std::size_t l = scan.end() + 1; l-- > 0;) scan.extend();  // now [l, r]
///   }
///
/// A tensor is sent by the segments that begin up to its producer and end before its last consumer:
/// for one end r, a sum over producers. It is received by those that begin behind its producer and
/// hold a consumer; when r reaches a consumer, those that begin behind the consumer before it join,
/// up to this one: two entries in a table of differences. So all segments take O(n² + E), and O(n +
/// E) memory; the paper's Lemma 4.1 has O(n² + E log² n) and a table of n².
class SegmentScan {
 public:
  SegmentScan(const PipelineProblem& problem, std::span<const Vertex> order);

  /// To the next end; the segment is empty then. False behind the last.
  bool advance();
  std::size_t end() const { return end_; }

  /// One vertex more at the front. REQUIRES: there is one.
  void extend();
  std::size_t begin() const { return begin_; }
  const SegmentTraffic& traffic() const { return traffic_; }
  Bytes received_bytes() const { return static_cast<Bytes>(received_bytes_); }

 private:
  struct Sent {
    double ms;
    std::size_t last;  ///< place of the last consumer
  };
  /// Differences of what is received, by place.
  struct Received {
    double ms = 0;
    std::int64_t bytes = 0;
  };
  /// That the segments whose end reaches a consumer receive the tensor.
  struct Arrival {
    std::size_t behind;  ///< the place before it from which on they begin: producer or consumer
    double ms;
    std::int64_t bytes;
  };

  std::vector<std::vector<Sent>> sent_;         // by place of the producer
  std::vector<std::vector<Arrival>> arrivals_;  // by place of the consumer
  std::vector<std::vector<std::size_t>>
      closed_;                      // by place of the last consumer: producers' places
  std::vector<double> open_ms_;     // by producer's place: what is sent from end_
  std::vector<Received> received_;  // by place
  std::size_t end_ = 0, begin_ = 0;
  bool begun_ = false;
  SegmentTraffic traffic_;
  std::int64_t received_bytes_ = 0;
};

}  // namespace hios::scheduler::pipeline
