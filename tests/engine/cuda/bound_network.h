#pragma once

#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/tensor_source.h"
#include "hios/graph/fusion/coarsen.h"

namespace hios::test {

/// A network bound to a backend without plan or executor: each operator has an output of its own,
/// and independent operators run at the same time on the given number of streams.
class BoundNetwork {
 public:
  /// Records the whole network if the backend records. All references outlive it.
  BoundNetwork(const CoarseGraph& coarse, const Model& model, Backend& backend,
               TensorSource& source, std::size_t streams);
  /// Runs one inference and waits for it.
  void run();
  /// Runs many inferences one after another and waits at the end.
  void run(int times);
  std::vector<float> output(OpId op);
  /// Returns the outputs of all operators, one after another.
  std::vector<float> outputs();
  bool recorded() const { return recording_ != nullptr; }

 private:
  struct Stage {
    std::vector<BoundGroup> groups;
    std::vector<CoreShare> shares;
  };
  void bind(std::size_t streams, TensorSource& source);
  void queue();

  const CoarseGraph& coarse_;
  const Model& model_;
  Backend& backend_;
  std::unique_ptr<Buffer> input_;
  std::vector<std::unique_ptr<Buffer>> outputs_;           // by OpId
  std::vector<std::unique_ptr<BoundOperator>> operators_;  // by OpId
  std::vector<Stage> stages_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace hios::test
