#include "mpi/session/agreement.h"

#include <gtest/gtest.h>

#include <mutex>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/need.h"
#include "support/transports/thread_transport.h"

namespace hios::test {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// Returns every rank's InputError of a step, by rank; empty: none.
template <class Step>
std::vector<std::string> messages(std::size_t ranks, const Step& step) {
  std::vector<std::string> texts(ranks);
  run_ranks(ranks, [&](mpi::Transport& transport) {
    try {
      step(transport);
    } catch (const InputError& error) {
      texts[transport.rank().index()] = error.what();
    }
  });
  return texts;
}

std::vector<std::string> facts_messages(const std::vector<Facts>& facts) {
  return messages(facts.size(), [&](mpi::Transport& transport) {
    mpi::agree_on_facts(transport, facts[transport.rank().index()]);
  });
}

std::vector<std::string> all_say(std::size_t ranks, const std::string& text) {
  return std::vector<std::string>(ranks, text);
}

TEST(JointMessage, IsEmptyWithoutMessages) { EXPECT_EQ(mpi::joint_message({"", "", ""}), ""); }

TEST(JointMessage, NamesNoRankWhenAllMessagesAreEqual) {
  EXPECT_EQ(mpi::joint_message({"bad", "bad"}), "bad");
  EXPECT_EQ(mpi::joint_message({"bad"}), "bad");
}

TEST(JointMessage, NamesTheFirstRankWhenTheyDiffer) {
  EXPECT_EQ(mpi::joint_message({"", "bad", "worse"}), "rank 1: bad");
  EXPECT_EQ(mpi::joint_message({"bad", "bad", ""}), "rank 0: bad");
}

TEST(AgreeOnInput, ThrowsTheSameOnEveryRank) {
  EXPECT_EQ(messages(3, [](mpi::Transport& t) { mpi::agree_on_input(t, ""); }), all_say(3, ""));
  EXPECT_EQ(messages(3, [](mpi::Transport& t) { mpi::agree_on_input(t, "no file"); }),
            all_say(3, "no file"));
  EXPECT_EQ(messages(3,
                     [](mpi::Transport& t) {
                       mpi::agree_on_input(t, t.rank() == Rank(2) ? "no file" : "");
                     }),
            all_say(3, "rank 2: no file"));
}

TEST(AgreeOnInput, CarriesTheNeedOfTheFirstMessage) {
  const Need need =
      need::Measurement{"net", "p\xff.json", {{"cpu", 2, "fp32"}, {"gpu", 0, "tf32"}}, 1, false};
  std::vector<Need> needs(3);
  run_ranks(3, [&](mpi::Transport& transport) {
    const std::size_t rank = transport.rank().index();
    try {
      mpi::agree_on_input(transport, rank == 0 ? "" : "no time", rank == 1 ? need : need::Cores{});
    } catch (const InputError& error) {
      needs[rank] = error.need();
    }
  });
  EXPECT_EQ(needs, std::vector<Need>(3, need));
}

TEST(AgreeOnFacts, AcceptsEqualFacts) {
  const Facts facts = {{"seed", "3"}, {"a:b", "7:x\n"}, {"", ""}};
  EXPECT_EQ(facts_messages({facts, facts, facts}), all_say(3, ""));
  EXPECT_EQ(facts_messages({{}, {}}), all_say(2, ""));
}

TEST(AgreeOnFacts, NamesTheDifferenceAndItsRanks) {
  EXPECT_EQ(facts_messages({{{"model", "m"}, {"seed", "3"}}, {{"model", "m"}, {"seed", "4"}}}),
            all_say(2,
                    "seed differs: rank 0 has 3, rank 1 has 4 (give every rank the same "
                    "arguments)"));
}

TEST(AgreeOnFacts, GroupsRanksByTheirFacts) {
  EXPECT_EQ(facts_messages({{{"s", "1"}}, {{"s", "2"}}, {{"s", "1"}}, {{"s", "1"}}}),
            all_say(4,
                    "s differs: ranks 0, 2 and 3 have 1, rank 1 has 2 (give every rank the same "
                    "arguments)"));
}

TEST(AgreeOnFacts, ListsEveryDifferenceAndFactsThatOneRankLacks) {
  EXPECT_EQ(facts_messages({{{"a", "1"}, {"b", ""}, {"c", "9"}},
                            {{"b", "5"}, {"a", "2"}, {"c", "9"}, {"d", "0"}}}),
            all_say(2,
                    "a differs: rank 0 has 1, rank 1 has 2; b differs: rank 0 has an empty one, "
                    "rank 1 has 5; d differs: rank 0 has none, rank 1 has 0 (give every rank "
                    "the same arguments)"));
}

}  // namespace
}  // namespace hios::test
