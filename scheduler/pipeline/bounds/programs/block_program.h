#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/milp/program.h"
#include "scheduler/pipeline/bounds/least_costs.h"
#include "scheduler/pipeline/bounds/programs/boundary_windows.h"

namespace hios::scheduler::pipeline {

/// A linear expression: a sum of columns of a program and a constant.
struct Linear {
  double constant = 0;
  std::vector<milp::Program::Term> terms = {};

  /// Adds `factor` times the other; keeps each column once, without factors of 0.
  void add(const Linear& other, double factor);
  bool is(double value) const { return terms.empty() && constant == value; }
};

/// Vertices in consecutive blocks, as a mixed integer program. A column for each boundary and
/// vertex is 1 if the vertex is before it (y of Archer, Fahrbach, Liu and Prabhu, "Practical
/// Performance Guarantees for Pipelined DNN Inference", section 3.1). A block's members are
/// differences of two (their Eq. 11), and blocks are acyclic by Eq. 8. Windows fix some columns to
/// constants. Minimises the period, the only column with a cost. Times are in ms divided by
/// `unit_ms`.
class BlockProgram {
 public:
  /// `sides`: by boundary and vertex.
  BlockProgram(const LeastCosts& costs, const std::vector<std::vector<Side>>& sides,
               double unit_ms);

  const milp::Program& program() const { return program_; }
  double unit_ms() const { return unit_ms_; }
  std::size_t blocks() const { return sides_ + 1; }

  /// Returns, by vertex, 1 if the vertex is in the block.
  std::vector<Linear> members(std::size_t block) const;
  /// Returns a new column that is 0 or 1.
  Linear choice();
  /// Returns the product of the two, one of which is a choice. The caller needs a row that makes it
  /// as large.
  Linear both(const Linear& member, const Linear& choice);
  /// Returns a new column that is at least each of these and at least 0, and minimal in an optimum.
  Linear at_least(std::vector<Linear> least);
  /// Adds the row lower <= sum <= upper.
  void require(double lower, const Linear& sum, double upper);
  /// Adds the row share · period >= sum.
  void bound_period(double share, const Linear& sum);
  /// Bounds the period; infinite: no limit.
  void limit_period(double least_ms, double most_ms);

  /// Returns the cost of a block with these members on the class. `used`: 1 if it is there.
  Linear block_cost(const PipelineClass& device, const std::vector<Linear>& members,
                    const Linear& used);
  /// Return the transfers of members' tensors with consumers elsewhere, and of others' tensors with
  /// consumers here, each once; in ms.
  Linear sent(const std::vector<Linear>& members);
  Linear received(const std::vector<Linear>& members);
  /// Returns the blocks' overflow beyond a line of bytes. `used`: a factor of the line's bytes.
  Linear overflow(const LeastCosts::Overflow& line, const std::vector<Linear>& members,
                  const Linear& used);

  /// Returns the values of all columns for these blocks, with these choices in the order of their
  /// creation, and all other columns minimal.
  std::vector<double> values(const std::vector<std::size_t>& block_of,
                             const std::vector<double>& choices) const;

 private:
  void make_boundaries(const std::vector<std::vector<Side>>& sides);
  Linear before(std::size_t boundary, Vertex vertex) const;
  Linear cut(std::vector<Linear> least, const Linear& most);

  const LeastCosts& costs_;
  std::size_t sides_;
  double unit_ms_;
  milp::Program program_;
  std::vector<std::vector<Linear>> before_;  // by boundary and vertex
  std::vector<std::uint32_t> choices_;
  struct Product {
    std::uint32_t column;
    Linear a, b;
  };
  std::vector<Product> products_;                                       // columns of both()
  std::vector<std::pair<std::uint32_t, std::vector<Linear>>> defined_;  // columns of at_least()
  std::vector<std::pair<double, Linear>> period_rows_;
  std::uint32_t period_ = 0;
};

}  // namespace hios::scheduler::pipeline
