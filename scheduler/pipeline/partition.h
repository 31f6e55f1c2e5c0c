#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"
#include "scheduler/pipeline/slicing.h"

namespace hios::scheduler::pipeline {

/// Vertices in blocks 0, 1, …, one a device, no vertex in a block before one whose tensor it reads:
/// so blocks form no cycle. Vertices move from block to block, and what blocks cost follows, in
/// time by the tensors at hand.
///
/// A block's cost is Eq. 3 of Archer, Fahrbach, Liu and Prabhu ("Practical Performance Guarantees
/// for Pipelined DNN Inference"), but for overflow: there its tensors count with what is received
/// and its largest own one, whatever the order. So it is exact where no device has fast memory, and
/// else no more than a slicing's.
class Partition {
 public:
  /// The blocks of a slicing in its order, then an empty one for each device that it leaves out.
  Partition(const PipelineProblem& problem, std::span<const Vertex> order, const Slicing& slicing);

  std::size_t blocks() const { return blocks_.size(); }
  std::size_t block_of(Vertex vertex) const { return block_of_[vertex]; }
  const std::vector<Vertex>& members(std::size_t block) const { return blocks_[block].members; }
  double ms(std::size_t block) const { return blocks_[block].ms; }
  double period_ms() const;

  /// The first and the last block in which the vertex may be, for all that it reads and is read by.
  std::pair<std::size_t, std::size_t> window(Vertex vertex) const;
  /// Whether the device of the block can run the vertex and hold it beside the others.
  bool has_room(Vertex vertex, std::size_t block) const;
  /// REQUIRES: within its window.
  void move(Vertex vertex, std::size_t to);
  /// Two blocks change devices. False, and nothing is changed, where those cannot run or hold them.
  bool swap_devices(std::size_t a, std::size_t b);

  /// An order of all vertices in which the blocks follow each other (Theorem 4.3 of the paper),
  /// those of one block in the problem's given order.
  std::vector<Vertex> order() const;

 private:
  struct Block {
    std::size_t device_class = 0;
    std::vector<Vertex> members;
    double work_ms = 0, receive_ms = 0, send_ms = 0, ms = 0;
    double received_bytes = 0;
    Bytes parameters = 0, held = 0;
  };

  void count_tensors();
  void add(Vertex vertex, std::size_t block);
  void remove(Vertex vertex);
  void take_from_traffic(std::size_t tensor, double sign);
  void price(Block& block) const;

  const PipelineProblem* problem_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> block_of_;              // by vertex
  std::vector<std::size_t> place_;                 // by vertex: in its block's members
  std::vector<std::size_t> rank_;                  // by vertex: in the given order
  std::vector<std::vector<std::size_t>> touched_;  // by vertex: tensors that it makes or reads
  std::vector<std::uint32_t> readers_;             // tensor × block
};

}  // namespace hios::scheduler::pipeline
