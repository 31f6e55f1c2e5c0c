#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"
#include "scheduler/pipeline/slicing/slicing.h"

namespace hios::scheduler::pipeline {

/// Vertices in blocks 0, 1, …, one a device, no vertex in a block before one whose tensor it reads:
/// so blocks form no cycle. Vertices move from block to block, and what blocks cost follows, in
/// time by the tensors at hand, however many blocks there are.
///
/// A block's cost is Eq. 3 of Archer, Fahrbach, Liu and Prabhu ("Practical Performance Guarantees
/// for Pipelined DNN Inference"), but for overflow: there its tensors count with what is received
/// and its largest own one, whatever the order. So it is exact, but for roundings that add up over
/// moves, where no device has fast memory, and else no more than a slicing's.
class Partition {
 public:
  /// Where all vertices are, and of which classes the blocks' devices.
  struct Layout {
    std::vector<std::size_t> block_of;        ///< by vertex
    std::vector<std::size_t> device_classes;  ///< by block
  };

  /// The blocks of a slicing in its order, then an empty one for each device that it leaves out.
  Partition(const PipelineProblem& problem, std::span<const Vertex> order, const Slicing& slicing);

  std::size_t blocks() const { return blocks_.size(); }
  std::size_t block_of(Vertex vertex) const { return layout_.block_of[vertex]; }
  const std::vector<Vertex>& members(std::size_t block) const { return blocks_[block].members; }
  double ms(std::size_t block) const { return blocks_[block].ms; }
  double period_ms() const;

  const Layout& layout() const { return layout_; }
  /// Everything as it was. All sums are made anew, without roundings of the moves between.
  void restore(Layout layout);

  /// The first and the last block in which the vertex may be, for all that it reads and is read by.
  std::pair<std::size_t, std::size_t> window(Vertex vertex) const;
  /// Whether the device of the block can run the vertex.
  bool can_run(Vertex vertex, std::size_t block) const;
  /// The same, and hold it beside the others.
  bool has_room(Vertex vertex, std::size_t block) const;
  /// Whether the device of the block can hold all that is in it.
  bool fits(std::size_t block) const;
  /// REQUIRES: can_run(); within its window once all moves that belong together are made.
  void move(Vertex vertex, std::size_t to);
  /// Two blocks change devices. False, and nothing is changed, where those cannot run or hold them.
  bool swap_devices(std::size_t a, std::size_t b);

  /// An order of all vertices in which the blocks follow each other (Theorem 4.3 of the paper),
  /// those of one block in the problem's given order.
  std::vector<Vertex> order() const;
  /// Those blocks as the slices of that order, at what they cost in it, overflow included. Linear.
  Slicing slicing(std::span<const Vertex> order) const;

 private:
  struct Block {
    std::vector<Vertex> members;
    double work_ms = 0, receive_ms = 0, send_ms = 0, ms = 0;
    double received_bytes = 0;
    Bytes parameters = 0, held = 0;
    Bytes largest = 0;  ///< own tensor, where the device has fast memory
  };
  struct Tensor {
    Vertex producer;
    double ms, bytes;
  };

  void fill();
  void add(Vertex vertex, std::size_t block);
  void remove(Vertex vertex);
  void leave_reader(std::size_t tensor, std::size_t from);
  void join_reader(std::size_t tensor, std::size_t to);
  void move_producer(std::size_t tensor, std::size_t from, std::size_t to);
  void receive(const Tensor& tensor, std::size_t block, double sign);
  void send(const Tensor& tensor, std::size_t block, double sign);
  void touch(std::size_t block);
  void find_largest(std::size_t block);
  double ms_without_overflow(std::size_t block) const;
  void price(std::size_t block);
  const PipelineClass& device(std::size_t block) const {
    return problem_->classes()[layout_.device_classes[block]];
  }

  const PipelineProblem* problem_;
  Layout layout_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> place_;              // by vertex: in its block's members
  std::vector<std::size_t> rank_;               // by vertex: in the given order
  std::vector<std::vector<std::size_t>> made_;  // by vertex: tensors
  std::vector<std::vector<std::size_t>> read_;  // by vertex: tensors
  std::vector<Bytes> own_bytes_;                // by vertex: its largest tensor
  std::vector<Tensor> tensors_;
  std::vector<std::uint32_t> consumers_;  // tensor × block
  std::vector<std::uint32_t> elsewhere_;  // by tensor: blocks other than its own that read it
  std::vector<std::size_t> touched_;      // blocks to be priced anew
  std::vector<bool> is_touched_;          // by block
};

}  // namespace hios::scheduler::pipeline
