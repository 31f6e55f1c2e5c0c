#include "engine/job/algorithm_agreement.h"

#include <gtest/gtest.h>

#include "support/fake_backend.h"
#include "support/random_network.h"
#include "support/thread_transport.h"

namespace hios::job {
namespace {

/// Chooses its own rank for each operator, unless it was told otherwise.
class ChoosyBackend final : public test::FakeBackend {
 public:
  ChoosyBackend(std::string name, std::size_t rank) : name_(std::move(name)), rank_(rank) {}
  std::string_view name() const override { return name_; }
  Json algorithms(const Operation& operation) override {
    ++asked;
    if (!adopted.contains(operation.name)) return {{operation.name, rank_}};
    return {{operation.name, adopted[operation.name]}};
  }
  void adopt(const Json& algorithms) override { adopted.update(algorithms); }

  std::size_t asked = 0;
  Json adopted = Json::object();

 private:
  std::string name_;
  std::size_t rank_;
};

TEST(AlgorithmAgreement, TheFirstRankOfABackendChoosesForAllOfThem) {
  const test::RandomNetwork network = test::random_network(6, 1);
  test::run_ranks(4, [&](mpi::Transport& transport) {
    const std::size_t rank = transport.rank().index();
    ChoosyBackend backend(rank % 2 == 0 ? "even" : "odd", rank);
    const Json known = {{"op_2", 17}, {"elsewhere", 5}};
    const Json chosen =
        agree_on_algorithms(transport, backend, network.coarse, network.model, known);
    for (std::size_t i = 0; i < network.coarse.graph.size(); ++i) {
      const std::string& name = network.coarse.graph.op(OpId(i)).name;
      EXPECT_EQ(chosen[name], name == "op_2" ? 17 : rank % 2) << name;
      EXPECT_EQ(backend.adopted[name], chosen[name]);
    }
    EXPECT_EQ(backend.asked, rank < 2 ? network.coarse.graph.size() : 0u);
  });
}

TEST(AlgorithmAgreement, NobodyIsAskedWhatItCannotRun) {
  const test::RandomNetwork network = test::random_network(6, 1);
  test::run_ranks(1, [&](mpi::Transport& transport) {
    ChoosyBackend backend("even", 0);
    backend.refused = "op_3";
    const Json chosen =
        agree_on_algorithms(transport, backend, network.coarse, network.model, Json::object());
    EXPECT_FALSE(chosen.contains("op_3"));
    EXPECT_EQ(chosen.size(), network.coarse.graph.size() - 1);
  });
}

TEST(AlgorithmAgreement, ABackendWithoutAChoiceHasNone) {
  const test::RandomNetwork network = test::random_network(6, 1);
  test::run_ranks(2, [&](mpi::Transport& transport) {
    test::FakeBackend backend;
    EXPECT_EQ(
        agree_on_algorithms(transport, backend, network.coarse, network.model, Json::object()),
        Json::object());
  });
}

}  // namespace
}  // namespace hios::job
