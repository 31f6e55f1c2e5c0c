#include "engine/job/ranks/algorithm_agreement.h"

#include <gtest/gtest.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "mpi/session/heartbeat_transport.h"
#include "support/expect_error.h"
#include "support/fakes/choosy_backend.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

using test::ChoosyBackend;

TEST(AlgorithmAgreement, TheFirstRankOfABackendChoosesForAllOfThem) {
  const test::RandomNetwork network = test::random_network(6, 1);
  test::run_ranks(4, [&](mpi::Transport& transport) {
    const std::size_t rank = transport.rank().index();
    ChoosyBackend backend(rank, rank % 2 == 0 ? "even" : "odd");
    const KnownAlgorithms known{Json{{"op_2", 17}, {"elsewhere", 5}}};
    const AgreedAlgorithms agreed = agree_on_algorithms(transport, backend, network.coarse,
                                                        network.model, known, Choosing::kByTiming);
    EXPECT_FALSE(agreed.by_all);
    Json chosen = *agreed.algorithms;
    for (std::size_t i = 0; i < network.coarse.graph.size(); ++i) {
      const std::string& name = network.coarse.graph.op(OpId(i)).name;
      EXPECT_EQ(chosen[name], name == "op_2" ? 17 : rank % 2) << name;
      EXPECT_EQ(backend.adopted[name], chosen[name]);
    }
    EXPECT_EQ(backend.asked, rank < 2 ? network.coarse.graph.size() : 0u);
  });
}

/// Trials of all operators of a large network take longer than a watchdog's time-out.
TEST(AlgorithmAgreement, RanksHearOfEachOtherAfterEachOperatorThatIsTried) {
  const test::RandomNetwork network = test::random_network(40, 1);
  const auto calls = [&](Choosing how) {
    std::vector<std::uint64_t> by_rank(2);
    test::run_ranks(2, [&](mpi::Transport& transport) {
      mpi::HeartbeatTransport counted(transport);
      ChoosyBackend backend(3);
      agree_on_algorithms(counted, backend, network.coarse, network.model, {}, how);
      by_rank[transport.rank().index()] = counted.heartbeats();
    });
    return by_rank;
  };
  const auto by_rule = calls(Choosing::kByRule), by_timing = calls(Choosing::kByTiming);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_GE(by_timing[rank] - by_rule[rank], 2 * (network.coarse.graph.size() - 1));
  }
}

TEST(AlgorithmAgreement, NoRankTimesALayerThatItCannotRun) {
  const test::RandomNetwork network = test::random_network(6, 1);
  test::run_ranks(1, [&](mpi::Transport& transport) {
    ChoosyBackend backend(0);
    backend.refused = "op_3";
    const Json chosen = *agree_on_algorithms(transport, backend, network.coarse, network.model, {},
                                             Choosing::kByTiming)
                             .algorithms;
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
    const AgreedAlgorithms agreed = agree_on_algorithms(transport, backend, network.coarse,
                                                        network.model, {}, Choosing::kByTiming);
    EXPECT_EQ(agreed.algorithms, Json::object());
    EXPECT_TRUE(agreed.by_all);
    EXPECT_EQ(agreed.origin.source, "backend fake's default algorithms");
    EXPECT_EQ(agreed.origin.by_default, network.coarse.graph.size());
  });
}

/// A choice, and the words for its origin.
struct OriginCase {
  Json choice;
  KnownAlgorithms known;
  std::size_t from_profile, chosen;
  std::string source;
};

TEST(AlgorithmAgreement, SaysWhereTheAlgorithmsCameFrom) {
  const test::RandomNetwork network = test::random_network(6, 1);
  const std::size_t size = network.coarse.graph.size();
  const Json one = {{"op_2", 17}}, other = {{"elsewhere", 5}};
  const std::vector<OriginCase> cases = {
      {nullptr, {}, 0, 0, "backend choosy's default algorithms"},
      {nullptr, {one, "costs.json"}, 1, 0, "the algorithms of costs.json"},
      {nullptr, {one, "costs\n.json"}, 1, 0, "the algorithms of costs\\n.json"},
      {nullptr, {one}, 1, 0, "the algorithms of the profile"},
      {nullptr,
       {other, "costs.json"},
       0,
       0,
       "backend choosy's default algorithms, as costs.json names none for this network"},
      {3, {}, 0, size, "the algorithms that rank 0 chose"},
      {3,
       {one, "costs.json"},
       1,
       size - 1,
       "the algorithms of costs.json and, for operators that it lacks, those that rank 0 chose"},
      {3,
       {other, "costs.json"},
       0,
       size,
       "the algorithms that rank 0 chose, as costs.json names none for this network"},
  };
  for (const OriginCase& one_case : cases) {
    SCOPED_TRACE(one_case.source);
    std::mutex mutex;
    std::set<std::string> digests;
    test::run_ranks(2, [&](mpi::Transport& transport) {
      // Rank 1 would choose otherwise: it adopts.
      const bool first = transport.rank() == Rank(0);
      ChoosyBackend backend(first ? one_case.choice : Json(9));
      const AgreedAlgorithms agreed = agree_on_algorithms(
          transport, backend, network.coarse, network.model, one_case.known, Choosing::kByRule);
      EXPECT_TRUE(agreed.by_all);
      EXPECT_EQ(agreed.origin.source, one_case.source);
      EXPECT_EQ(agreed.origin.from_profile, one_case.from_profile);
      EXPECT_EQ(agreed.origin.chosen, one_case.chosen);
      EXPECT_EQ(agreed.origin.by_default, size - one_case.from_profile - one_case.chosen);
      const std::lock_guard lock(mutex);
      digests.insert(agreed.origin.digest);
    });
    EXPECT_EQ(digests.size(), 1u);
  }
}

TEST(AlgorithmAgreement, OtherAlgorithmsHaveAnotherDigest) {
  const test::RandomNetwork network = test::random_network(6, 1);
  std::vector<std::string> digests;
  for (const int choice : {3, 3, 4}) {
    test::run_ranks(1, [&](mpi::Transport& transport) {
      ChoosyBackend backend(choice);
      digests.push_back(agree_on_algorithms(transport, backend, network.coarse, network.model, {},
                                            Choosing::kByRule)
                            .origin.digest);
    });
  }
  EXPECT_EQ(digests[0], digests[1]);
  EXPECT_NE(digests[0], digests[2]);
}

}  // namespace
}  // namespace hios::job
