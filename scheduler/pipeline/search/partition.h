#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "scheduler/pipeline/pipeline_problem.h"
#include "scheduler/pipeline/slicing/slicing.h"

namespace hios::scheduler::pipeline {

/// Vertices in blocks 0, 1, …, one a device; no vertex is in a block before that of a producer, so
/// blocks form no cycle. When vertices move, the costs of blocks follow, in time of the vertex's
/// tensors, whatever the number of blocks.
///
/// A block's cost is Eq. 3 of Archer, Fahrbach, Liu and Prabhu ("Practical Performance Guarantees
/// for Pipelined DNN Inference"), except for overflow, where its tensors count as all received ones
/// and its largest own one, whatever the order. So it is exact, but for rounding that adds up over
/// moves, where no device has fast memory. Otherwise it is no more than a slicing's.
class Partition {
 public:
  /// The blocks of all vertices and the classes of the blocks' devices.
  struct Layout {
    std::vector<std::size_t> block_of;        ///< by vertex
    std::vector<std::size_t> device_classes;  ///< by block
  };

  /// Begins with the blocks of a slicing in its order, then an empty one for each unused device.
  Partition(const PipelineProblem& problem, std::span<const Vertex> order, const Slicing& slicing);

  std::size_t blocks() const { return blocks_.size(); }
  std::size_t block_of(Vertex vertex) const { return layout_.block_of[vertex]; }
  const std::vector<Vertex>& members(std::size_t block) const { return blocks_[block].members; }
  double ms(std::size_t block) const { return blocks_[block].ms; }
  double period_ms() const;

  const Layout& layout() const { return layout_; }
  /// Restores a layout. Computes all sums from scratch, without the rounding of moves.
  void restore(Layout layout);

  /// Returns the first and the last block in which the vertex may be, by its neighbours.
  std::pair<std::size_t, std::size_t> block_range(Vertex vertex) const;
  /// Returns true if the device of the block can run the vertex.
  bool can_run(Vertex vertex, std::size_t block) const;
  /// Returns true if it can also hold it together with the present members.
  bool has_room(Vertex vertex, std::size_t block) const;
  /// Returns true if the device of the block can hold all its members.
  bool fits(std::size_t block) const;
  /// Moves a vertex. REQUIRES: can_run(); within its block_range() after all related moves.
  void move(Vertex vertex, std::size_t to);
  /// Swaps the devices of two blocks. Returns false and changes nothing if they cannot run or hold
  /// them.
  bool swap_devices(std::size_t a, std::size_t b);

  /// Returns an order of all vertices block by block (Theorem 4.3 of the paper), within a block in
  /// the problem's given order.
  std::vector<Vertex> order() const;
  /// Returns the blocks as slices of that order, with their costs in it, overflow included. Linear.
  Slicing slicing(std::span<const Vertex> order) const;

 private:
  struct Block {
    std::vector<Vertex> members;
    double work_ms = 0, receive_ms = 0, send_ms = 0, ms = 0;
    double received_bytes = 0;
    Bytes parameters = 0, held = 0;
    Bytes largest = 0;  ///< the largest own tensor, if the device has fast memory
  };
  struct Tensor {
    Vertex producer;
    double ms, bytes;
  };

  void fill();
  void add(Vertex vertex, std::size_t block);
  void remove(Vertex vertex);
  void remove_consumer(std::size_t tensor, std::size_t from);
  void add_consumer(std::size_t tensor, std::size_t to);
  void move_producer(std::size_t tensor, std::size_t from, std::size_t to);
  void receive(const Tensor& tensor, std::size_t block, double sign);
  void send(const Tensor& tensor, std::size_t block, double sign);
  void touch(std::size_t block);
  void find_largest(std::size_t block);
  double ms_without_overflow(std::size_t block) const;
  void update_cost(std::size_t block);
  const PipelineClass& device(std::size_t block) const {
    return problem_->classes()[layout_.device_classes[block]];
  }

  const PipelineProblem* problem_;
  Layout layout_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> index_;                  // by vertex: in its block's members
  std::vector<std::size_t> rank_;                   // by vertex: in the given order
  std::vector<std::vector<std::size_t>> produced_;  // by vertex: tensors
  std::vector<std::vector<std::size_t>> consumed_;  // by vertex: tensors
  std::vector<Bytes> own_bytes_;                    // by vertex: its largest tensor
  std::vector<Tensor> tensors_;
  std::vector<std::uint32_t> consumers_;  // tensor × block
  std::vector<std::uint32_t> elsewhere_;  // by tensor: blocks other than its own with a consumer
  std::vector<std::size_t> touched_;      // blocks whose costs must be updated
  std::vector<bool> is_touched_;          // by block
};

}  // namespace hios::scheduler::pipeline
