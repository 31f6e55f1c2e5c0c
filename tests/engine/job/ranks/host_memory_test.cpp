#include "engine/job/ranks/host_memory.h"

#include <gtest/gtest.h>

#include "engine/job/profile_job.h"
#include "engine/job/small_job.h"
#include "engine/measure/operators.h"
#include "hios/base/need.h"
#include "support/message.h"
#include "support/transports/fake_job.h"

namespace hios::job {
namespace {

constexpr Bytes kGib = Bytes{1} << 30;

/// A rank that needs some GiB on a host whose memory has `left` GiB left.
RankMemory rank_on(const std::string& host, Bytes gib, Bytes left) {
  RankMemory rank{.host = host, .need = {}, .available = {}};
  rank.need = {gib * kGib, {{"conv_" + std::to_string(gib) + "'s output", "1x2x3x4", gib * kGib}}};
  rank.available.shared.push_back({"memory of the machine", 0, left * kGib});
  return rank;
}

Error refusal_of(const std::vector<RankMemory>& ranks, bool many = false) {
  try {
    require_host_memory("net", ranks, many);
  } catch (const InputError& error) {
    return error;
  }
  return InputError("");
}

std::string refused(const std::vector<RankMemory>& ranks) { return refusal_of(ranks).what(); }

TEST(HostMemory, TheRanksOfAHostAreSummed) {
  EXPECT_EQ(refused({rank_on("a", 3, 8), rank_on("a", 5, 8)}), "");
  EXPECT_EQ(refused({rank_on("a", 4, 8), rank_on("a", 5, 8)}),
            "net needs at least 9.0 GiB on host a (2 ranks), where 8.0 GiB are available (memory "
            "of the machine); the largest tensors are conv_5's output 5.0 GiB (1x2x3x4), conv_4's "
            "output 4.0 GiB (1x2x3x4)");
  EXPECT_EQ(refused({rank_on("a", 4, 8), rank_on("b", 5, 8)}), "") << "other hosts";
  EXPECT_EQ(refused({rank_on("a", 4, 8), rank_on("a", 5, 9)}), "")
      << "the larger of two readings of one account";
}

TEST(HostMemory, TheAccountWithTheLargestShortageIsNamed) {
  RankMemory rank = rank_on("a", 9, 8);
  rank.available.shared.push_back({"limit of the control group /job", 7, 2 * kGib});
  test::expect_message(refused({rank}), "where 2.0 GiB are available (limit of the control group");
}

TEST(HostMemory, GroupsOfOneNameInTwoContainersAreTwoAccounts) {
  RankMemory one = rank_on("a", 3, 100), other = one;
  one.available.shared.push_back({"limit of the control group /", 1, 4 * kGib});
  other.available.shared.push_back({"limit of the control group /", 2, 4 * kGib});
  EXPECT_EQ(refused({one, other}), "");
  other.available.shared.back().id = 1;
  test::expect_message(refused({one, other}), "needs at least 6.0 GiB on host a (2 ranks)");
}

TEST(HostMemory, AProcessesOwnLimitIsComparedWithItsRankAlone) {
  RankMemory one = rank_on("a", 3, 100), other = one;
  one.available.own.push_back({"limit of the process's data, ulimit -d", 0, 4 * kGib});
  other.available.own.push_back({"limit of the process's data, ulimit -d", 0, 2 * kGib});
  const Error error = refusal_of({one, other});
  test::expect_message(error.what(),
                       "net needs at least 3.0 GiB on rank 1 on host a, where 2.0 GiB");
  EXPECT_EQ(error.need(), Need(need::HostMemory{.own_limit = true}));
  other.available.held = kGib;
  EXPECT_EQ(refused({one, other}), "") << "the process holds the rest, freed";
}

TEST(HostMemory, TheRemedyFitsTheJob) {
  EXPECT_EQ(refusal_of({rank_on("a", 5, 4)}).need(), Need(need::HostMemory{}));
  EXPECT_EQ(refusal_of({rank_on("a", 5, 6), rank_on("a", 5, 6)}, true).need(),
            Need(need::HostMemory{.many_inferences = true, .several_ranks = true}));
}

TEST(HostMemory, ARanksShareIsThatOfItsScarcestAccount) {
  std::vector<RankMemory> ranks = {rank_on("a", 0, 8), rank_on("a", 0, 8), rank_on("b", 0, 8)};
  EXPECT_EQ(share_of_memory(ranks, Rank(0)), 4 * kGib);
  EXPECT_EQ(share_of_memory(ranks, Rank(2)), 8 * kGib);
  ranks[2].available.own.push_back({"limit of the process's data, ulimit -d", 0, kGib});
  EXPECT_EQ(share_of_memory(ranks, Rank(2)), kGib);
  EXPECT_EQ(share_of_memory({RankMemory{"a", {}, {}}}, Rank(0)), std::nullopt);
}

TEST(HostMemory, AllRanksRefuseInTheSameWords) {
  const auto messages =
      test::messages_of_ranks({.backends = {"fake", "fake"}}, [](mpi::Transport& transport) {
        RankMemory mine = rank_on("", transport.rank() == Rank(0) ? 3 : 6, 8);
        agree_on_host_memory(transport, "net", mine.need, mine.available, false);
      });
  test::expect_refused_by_all(messages, "net needs at least 9.0 GiB on host ");
  test::expect_refused_by_all(messages, "(2 ranks), where 8.0 GiB are available");
}

/// A network that no machine holds: 2^40 values.
RunInputs huge_inputs() {
  ModelBuilder b("huge", {1, 256, 1 << 16, 1 << 16});
  b.relu("after", b.input());
  return inputs_for(Network(std::move(b).build()), {"cpu"}, 1);
}

TEST(HostMemory, ARunIsRefusedBeforeItAllocates) {
  const RunInputs inputs = huge_inputs();
  const auto messages = test::messages_of_ranks(
      {.backends = {"fake"}},
      [&](mpi::Transport& transport) { run(transport, inputs, options_with({"reference"})); });
  test::expect_refused_by_all(messages, "huge needs at least 20480.0 GiB on host ");
}

TEST(HostMemory, AProfileIsRefusedUnlessAllItsOperatorsAreKnown) {
  const RunInputs inputs = huge_inputs();
  const auto messages =
      test::messages_of_ranks({.backends = {"fake"}}, [&](mpi::Transport& transport) {
        Watch watch(transport, 60);
        ProfileOptions options;
        options.ranks.backends = {"reference"};
        options.ranks.share_cores = true;
        ProfileJob(watch, inputs.network, {}, options);
      });
  test::expect_refused_by_all(messages, "huge needs at least 20480.0 GiB on host ");
  const Graph& graph = inputs.network.coarse.graph;
  Configuration known;
  EXPECT_TRUE(lacks_operators(graph, known));
  for (const Operator& op : graph.operators()) known.operators[op.signature] = {1, 1, 1};
  EXPECT_FALSE(lacks_operators(graph, known));
}

TEST(HostMemory, APlanAloneNeedsNone) {
  const RunInputs inputs = huge_inputs();
  test::run_fake_job({.backends = {"fake"}}, [&](mpi::Transport& transport) {
    RunOptions options = options_with({"reference"});
    options.plan_only = true;
    Watch watch(transport, 60);
    EXPECT_EQ(RunJob(watch, inputs, options).steps().size(), 1u);
  });
}

}  // namespace
}  // namespace hios::job
