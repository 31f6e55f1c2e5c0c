#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/layers/operations.h"

/// The lists of which operation_cases() consists.
namespace hios::test {

using Inputs = std::span<const TensorId>;

/// Collects cases under construction.
class CaseList {
 public:
  void add(std::string name, const Shape& input, const std::vector<std::int64_t>& channels,
           const BuildOperator& build) {
    cases_.push_back(make_operation(std::move(name), input, channels, build));
  }
  std::vector<OperationCase> take() { return std::move(cases_); }

 private:
  std::vector<OperationCase> cases_;
};

/// Adds depthwise and pointwise convolutions with the layers around them.
void add_separables(CaseList& list);
/// Adds pointwise, depthwise and pointwise convolutions (ExpandedForm).
void add_expanded(CaseList& list);

}  // namespace hios::test
