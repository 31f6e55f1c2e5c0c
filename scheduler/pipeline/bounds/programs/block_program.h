#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/milp/program.h"
#include "scheduler/pipeline/bounds/least_costs.h"
#include "scheduler/pipeline/bounds/programs/boundary_windows.h"

namespace hios::scheduler::pipeline {

/// A sum of columns of a program and a number.
struct Linear {
  double constant = 0;
  std::vector<milp::Program::Term> terms = {};

  /// Each column once, none with a factor of 0.
  void add(const Linear& other, double factor);
  bool is(double value) const { return terms.empty() && constant == value; }
};

/// Vertices in blocks in a row, as a mixed integer program: a column for each boundary and vertex
/// says whether the vertex is before it (y of Archer, Fahrbach, Liu and Prabhu, "Practical
/// Performance Guarantees for Pipelined DNN Inference", section 3.1), so that what is in a block is
/// the difference of two (their Eq. 11), and acyclic by Eq. 8. What windows leave no choice is a
/// number. Minimises the period, the only column that costs something. Times are in ms divided by
/// `unit_ms`.
class BlockProgram {
 public:
  /// `sides`: by boundary and vertex.
  BlockProgram(const LeastCosts& costs, const std::vector<std::vector<Side>>& sides,
               double unit_ms);

  const milp::Program& program() const { return program_; }
  double unit_ms() const { return unit_ms_; }
  std::size_t blocks() const { return sides_ + 1; }

  /// 1 where the vertex is in the block, by vertex.
  std::vector<Linear> members(std::size_t block) const;
  /// A column that is 0 or 1 and more than that is not wanted of it.
  Linear choice();
  /// 1 where both are; one of them is a choice. Wants a row that makes it as large as that.
  Linear both(const Linear& member, const Linear& choice);
  /// A column that is at least each of these and at least 0, and has no reason to be more.
  Linear at_least(std::vector<Linear> least);
  /// lower <= sum <= upper.
  void require(double lower, const Linear& sum, double upper);
  /// share · period >= sum.
  void bound_period(double share, const Linear& sum);
  /// The period is in between; infinite: no limit.
  void limit_period(double least_ms, double most_ms);

  /// What one block of these members takes as one of the class. `used`: 1 where it is.
  Linear block_cost(const PipelineClass& device, const std::vector<Linear>& members,
                    const Linear& used);
  /// Their tensors that others read, and those of others that they read, each once; in ms.
  Linear sent(const std::vector<Linear>& members);
  Linear received(const std::vector<Linear>& members);
  /// What blocks take together beyond a line of bytes. `used`: a factor of the line's bytes.
  Linear overflow(const LeastCosts::Overflow& line, const std::vector<Linear>& members,
                  const Linear& used);

  /// Values of all columns where the vertices are in these blocks, choices have these values in the
  /// order in which they were made, and all else is as small as it can be.
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
