#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "hios/base/ids.h"
#include "hios/model/model.h"

namespace hios {

/// The summary of a model in a list of networks.
struct ModelSummary {
  std::string name;
  std::size_t operators = 0;
  std::size_t dependencies = 0;  ///< edges, with multiplicity
  double gflop = 0;              ///< 10⁹ operations, two a multiply-add
  std::int64_t parameters = 0;   ///< weights and biases
  std::string largest_tensor;    ///< name of the largest among the input and the operators' outputs
  Bytes largest_tensor_bytes = 0;
};
ModelSummary summarize(const Model& model);

}  // namespace hios
