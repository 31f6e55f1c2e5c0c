// Functions of one value.
#include "engine/cpu/kernels/unary_loops.h"
#include "engine/cpu/single/single.h"

namespace hios::cpu {

std::unique_ptr<BoundOperator> bind_single(const Binding& binding, const Layer&,
                                           const Unary& unary) {
  const std::int64_t values = binding.output_shape().elements();
  return make_operator([=, threads = team_for(binding.share, values), run = loop_of(unary.function),
                        input = binding.inputs[InputIndex(0)].floats(), output = binding.output] {
    parallel_shares(threads, static_cast<std::size_t>(values),
                    [&](std::size_t begin, std::size_t end) {
                      run({input + begin, output + begin, end - begin, unary.alpha, unary.beta});
                    });
  });
}

}  // namespace hios::cpu
