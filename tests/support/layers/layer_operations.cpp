#include "support/layers/layer_operations.h"

#include "support/layers/layer_case_lists.h"

namespace hios::test {

const std::vector<OperationCase>& layer_operation_cases() {
  static const Cases cases = [] {
    Cases all;
    add_window_cases(all);
    add_value_cases(all);
    add_reduction_cases(all);
    add_resize_cases(all);
    add_gated_cases(all);
    add_arrangement_cases(all);
    return all;
  }();
  return cases;
}

}  // namespace hios::test
