#include "engine/measure/stages/kept_weights.h"

#include <gtest/gtest.h>

#include "mpi/messages/serial.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"

namespace hios {
namespace {

/// Counts the operators that live, and has no memory for tensors while there are too many of them.
class CountingBackend final : public test::FakeBackend {
 public:
  std::size_t alive = 0, most_alive = 1000;

  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    if (alive > most_alive) throw RunError("no memory for " + std::string(what));
    return FakeBackend::allocate(size_bytes, what);
  }
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override {
    return std::make_unique<Counted>(FakeBackend::bind(operation, inputs, output, share, source),
                                     alive);
  }

 private:
  class Counted final : public BoundOperator {
   public:
    Counted(std::unique_ptr<BoundOperator> bound, std::size_t& alive)
        : bound_(std::move(bound)), alive_(alive) {
      ++alive_;
    }
    ~Counted() override { --alive_; }
    void run() override { bound_->run(); }

   private:
    std::unique_ptr<BoundOperator> bound_;
    std::size_t& alive_;
  };
};

/// A stage of one operator, for each operator of the network.
struct LoneOperators {
  explicit LoneOperators(const test::RandomNetwork& of) : network(of) {
    for (const OpId op : network.coarse.graph.topological()) {
      stages.push_back(one_operator_stages({op}).front());
    }
  }
  std::unique_ptr<StageBatch> batch(KeptWeights& kept) {
    return kept.make_batch({network.coarse, network.model, backend, *transport, source}, stages,
                           Bytes{1} << 16);
  }
  const test::RandomNetwork& network;
  std::vector<Stage> stages;
  CountingBackend backend;
  std::unique_ptr<mpi::Transport> transport = mpi::make_serial_transport();
  test::FakeSource source;
};

TEST(KeptWeights, OneOperatorOfEachKindLivesOn) {
  const test::RandomNetwork network = test::random_network(10, 2);
  LoneOperators all(network);
  KeptWeights kept;
  for (int i = 0; i < 3; ++i) {
    auto batch = all.batch(kept);
    std::vector<double> ms(all.stages.size());
    batch->sweep(ms);
    kept.keep(batch->take_operators());
    batch.reset();
    EXPECT_EQ(all.backend.alive, network.coarse.graph.size());
  }
}

TEST(KeptWeights, AreFreedWhereABatchFindsNoMemory) {
  const test::RandomNetwork network = test::random_network(10, 2);
  LoneOperators all(network);
  KeptWeights kept;
  kept.keep(all.batch(kept)->take_operators());
  ASSERT_GT(all.backend.alive, 0u);
  all.backend.most_alive = 0;
  auto batch = all.batch(kept);
  kept.keep(batch->take_operators());
  batch.reset();
  EXPECT_EQ(all.backend.alive, 0u) << "nothing is kept from then on";
}

TEST(KeptWeights, ABatchThatFindsNoMemoryByItselfIsRefused) {
  const test::RandomNetwork network = test::random_network(10, 2);
  LoneOperators all(network);
  KeptWeights kept;
  kept.keep(all.batch(kept)->take_operators());
  const auto filled = all.batch(kept);  // kept alive
  all.backend.most_alive = 0;
  EXPECT_THROW(all.batch(kept), RunError);
}

}  // namespace
}  // namespace hios
