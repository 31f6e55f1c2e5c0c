#include "engine/cpu/primitive.h"

#include <omp.h>

namespace hios::cpu {

FixedPrimitive::FixedPrimitive(const Binding& binding, dnnl::primitive primitive,
                               const dnnl::memory::desc& scratchpad,
                               std::vector<Argument> arguments)
    : name_(binding.operation.name),
      threads_(binding.share.threads),
      stream_(binding.stream),
      primitive_(std::move(primitive)),
      kept_(std::move(arguments)),
      scratchpad_(scratchpad, binding.engine, DNNL_MEMORY_NONE),
      scratch_(binding.scratch) {
  scratch_.reserve(scratchpad.get_size());
  for (const Argument& argument : kept_) {
    arguments_.at(static_cast<std::size_t>(argument_count_++)) = {argument.role,
                                                                  argument.memory.get()};
  }
  arguments_.at(static_cast<std::size_t>(argument_count_++)) = {DNNL_ARG_SCRATCHPAD,
                                                                scratchpad_.get()};
}

void FixedPrimitive::run() {
  omp_set_num_threads(threads_);
  with_dnnl([&] { return "running " + name_; },
            [&] {
              if (scratch_.data() != scratch_at_) {
                scratchpad_.set_data_handle(scratch_.data());
                scratch_at_ = scratch_.data();
              }
              dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream_.get(),
                                                             argument_count_, arguments_.data()),
                                      "could not execute");
            });
}

}  // namespace hios::cpu
