#include "engine/cpu/primitive.h"

#include <omp.h>

namespace hios::cpu {
namespace {

std::vector<FixedPrimitive::Argument> with_scratchpad(
    const Binding& binding, const dnnl::memory::desc& scratchpad,
    std::vector<FixedPrimitive::Argument> arguments) {
  arguments.push_back(in_scratch(DNNL_ARG_SCRATCHPAD, scratchpad, binding.engine, 0));
  return arguments;
}

}  // namespace

FixedPrimitive::FixedPrimitive(const Binding& binding, dnnl::primitive primitive,
                               std::vector<Argument> arguments)
    : name_(binding.operation.name),
      threads_(binding.share.threads),
      stream_(binding.stream),
      primitive_(std::move(primitive)),
      kept_(std::move(arguments)),
      scratch_(binding.scratch) {
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    arguments_.at(i) = {kept_[i].role, kept_[i].memory.get()};
    if (kept_[i].in_scratch) {
      scratch_.reserve(*kept_[i].in_scratch + kept_[i].memory.get_desc().get_size());
    }
  }
}

FixedPrimitive::FixedPrimitive(const Binding& binding, dnnl::primitive primitive,
                               const dnnl::memory::desc& scratchpad,
                               std::vector<Argument> arguments)
    : FixedPrimitive(binding, std::move(primitive),
                     with_scratchpad(binding, scratchpad, std::move(arguments))) {}

void FixedPrimitive::run() {
  omp_set_num_threads(threads_);
  with_dnnl(
      [&] { return "running " + name_; },
      [&] {
        if (scratch_.data() != scratch_at_) {
          for (const Argument& argument : kept_) {
            if (!argument.in_scratch) continue;
            dnnl::memory(argument.memory).set_data_handle(scratch_.data() + *argument.in_scratch);
          }
          scratch_at_ = scratch_.data();
        }
        dnnl::error::wrap_c_api(
            dnnl_primitive_execute(primitive_.get(), stream_.get(), static_cast<int>(kept_.size()),
                                   arguments_.data()),
            "could not execute");
      });
}

}  // namespace hios::cpu
