// The family kOwnConvolutions (convolution.h): our own kernel (engine/cuda/kernels/convolution.cu)
// as "own TILE SPLIT".
#include <algorithm>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/operators/convolution.h"

namespace hios::cuda {
namespace {

constexpr int kMaxSplit = 64;

int steps_of(const ConvolutionProblem& problem) {
  const TaskWindow& window = problem.window;
  const int depth = window.kernel_h * window.kernel_w * (window.channels / problem.groups);
  return (depth + kTileDepth - 1) / kTileDepth;
}

int tiles_of(const ConvolutionProblem& problem, const Tile& tile) {
  const int outputs = problem.window.out_channels / problem.groups;
  return (problem.pixels() + tile.pixels - 1) / tile.pixels *
         ((outputs + tile.channels - 1) / tile.channels) * problem.groups;
}

class OwnConvolution final : public ConvolutionAlgorithm {
 public:
  OwnConvolution(const ConvolutionProblem& problem, int tile, int split, cudaStream_t stream)
      : tile_(tile), stream_(stream) {
    task_.element = problem.element();
    task_.window = problem.window;
    task_.groups = problem.groups;
    task_.relu_before = problem.relu_before;
    task_.after.activation = activation_of(problem.relu_after, problem.activation);
    task_.split = split;
    if (split > 1) {
      workspace_bytes_ = static_cast<Bytes>(split) * problem.output_values() * sizeof(float);
    }
  }

  Bytes workspace_bytes() const override { return workspace_bytes_; }

  void queue(const ConvolutionOperands& operands, std::byte* workspace,
             std::string_view doing) override {
    task_.input = operands.input;
    task_.weights = operands.weights;
    task_.after.bias = operands.bias;
    task_.after.addend = operands.addend;
    task_.output = operands.output;
    task_.partials = reinterpret_cast<float*>(workspace);
    HIOS_CUDA(convolution(task_, tile_, stream_), doing);
  }

 private:
  ConvolutionTask task_;
  int tile_;
  cudaStream_t stream_;
  Bytes workspace_bytes_ = 0;
};

/// The kernel computes all of any problem.
std::vector<ComputedPart> parts(const ConvolutionProblem& problem) { return {{problem}}; }

/// Returns the tiles and splits; more splits only while the GPU has room for more blocks and a part
/// has some depth.
std::vector<std::string> candidates(const ConvolutionProblem& problem,
                                    const ConvolutionTools& tools, bool) {
  constexpr int kLeastSteps = 4;
  const int enough_blocks = 3 * tools.gpu.multiprocessors;
  std::vector<std::string> names;
  for (int tile = 0; tile < kTileCount; ++tile) {
    const int tiles = tiles_of(problem, kTiles[tile]);
    for (int split = 1; split <= kMaxSplit; split *= 2) {
      if (split > 1 && (tiles * split > enough_blocks || steps_of(problem) < split * kLeastSteps)) {
        break;
      }
      names.push_back("own " + std::to_string(tile) + " " + std::to_string(split));
    }
  }
  return names;
}

std::unique_ptr<ConvolutionAlgorithm> make(const std::string& name,
                                           const ConvolutionProblem& problem,
                                           const ConvolutionTools& tools) {
  const std::vector<std::string> words = words_of(name);
  if (words.size() != 2) refuse_name(name);
  const int tile = number_of(words[0], name), split = number_of(words[1], name);
  if (tile >= kTileCount || split < 1 || split > kMaxSplit) refuse_name(name);
  return std::make_unique<OwnConvolution>(problem, tile, split, tools.stream.stream());
}

}  // namespace

const ConvolutionFamily kOwnConvolutions{"own", parts, candidates, make};

}  // namespace hios::cuda
