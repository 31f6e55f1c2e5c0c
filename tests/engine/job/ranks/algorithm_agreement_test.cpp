#include "engine/job/ranks/algorithm_agreement.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/fakes/fake_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

/// Chooses its own rank for each operator, unless it has adopted another.
class ChoosyBackend final : public test::FakeBackend {
 public:
  ChoosyBackend(std::string name, std::size_t rank) : name_(std::move(name)), rank_(rank) {}
  std::string_view name() const override { return name_; }
  Json algorithms(const Operation& operation, Choosing) override {
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
    const KnownAlgorithms known{Json{{"op_2", 17}, {"elsewhere", 5}}};
    const Json chosen = agree_on_algorithms(transport, backend, network.coarse, network.model,
                                            known, Choosing::kByTiming);
    for (std::size_t i = 0; i < network.coarse.graph.size(); ++i) {
      const std::string& name = network.coarse.graph.op(OpId(i)).name;
      EXPECT_EQ(chosen[name], name == "op_2" ? 17 : rank % 2) << name;
      EXPECT_EQ(backend.adopted[name], chosen[name]);
    }
    EXPECT_EQ(backend.asked, rank < 2 ? network.coarse.graph.size() : 0u);
  });
}

TEST(AlgorithmAgreement, NoRankTimesALayerThatItCannotRun) {
  const test::RandomNetwork network = test::random_network(6, 1);
  test::run_ranks(1, [&](mpi::Transport& transport) {
    ChoosyBackend backend("even", 0);
    backend.refused = "op_3";
    const Json chosen = agree_on_algorithms(transport, backend, network.coarse, network.model, {},
                                            Choosing::kByTiming);
    EXPECT_FALSE(chosen.contains("op_3"));
    EXPECT_EQ(chosen.size(), network.coarse.graph.size() - 1);
  });
}

/// Refuses, like a backend that reads a profile of a later version.
class IgnorantBackend final : public test::FakeBackend {
 public:
  explicit IgnorantBackend(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  void adopt(const Json& algorithms) override {
    if (!algorithms.empty()) throw InputError("knows no algorithm " + algorithms.dump());
  }

 private:
  std::string name_;
};

TEST(AlgorithmAgreement, AnAlgorithmUnknownToOneBackendEndsAllRanks) {
  const test::RandomNetwork network = test::random_network(6, 1);
  test::run_ranks(3, [&](mpi::Transport& transport) {
    const bool knows = transport.rank() != Rank(1);
    const auto backend = knows ? std::unique_ptr<Backend>(std::make_unique<test::FakeBackend>())
                               : std::make_unique<IgnorantBackend>("ignorant");
    const KnownAlgorithms known{Json{{"op_2", "fft"}}, "costs.json"};
    test::expect_error<InputError>(
        [&] {
          agree_on_algorithms(transport, *backend, network.coarse, network.model, known,
                              Choosing::kByRule);
        },
        {"rank 1", "costs.json: knows no algorithm {\"op_2\":\"fft\"}"});
  });
}

TEST(AlgorithmAgreement, ABackendWithoutAChoiceHasNone) {
  const test::RandomNetwork network = test::random_network(6, 1);
  test::run_ranks(2, [&](mpi::Transport& transport) {
    test::FakeBackend backend;
    EXPECT_EQ(agree_on_algorithms(transport, backend, network.coarse, network.model, {},
                                  Choosing::kByTiming),
              Json::object());
  });
}

}  // namespace
}  // namespace hios::job
