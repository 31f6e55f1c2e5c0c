#include "engine/run/ready/ready_order.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "hios/base/numbers/random.h"
#include "support/networks/random_cuts.h"
#include "support/networks/random_network.h"
#include "support/oracles/plan_checker.h"

namespace hios {
namespace {

using test::findings_in;
using Lines = std::vector<std::string>;

/// A random order of the blocks of all ranks that their conditions allow. Keeps each rank's steps
/// in that order.
class RandomOrder {
 public:
  RandomOrder(const Graph& graph, const std::vector<RankPlan>& plans, Random& random)
      : plans_(plans), random_(random) {
    for (const RankPlan& plan : plans) {
      blocks_.push_back(ready_order(plan, graph));
      RankPlan& ordered = ordered_.emplace_back(plan);
      ordered.steps.clear();
    }
    for (const auto& blocks : blocks_) open_.emplace_back(blocks).begin();
    awaited_.resize(plans.size());
  }

  /// Returns plans with one wait for each message, as the checker expects; nothing after a
  /// deadlock.
  std::optional<std::vector<RankPlan>> run() && {
    while (true) {
      std::vector<std::pair<std::size_t, std::size_t>> candidates;
      bool left = false;
      for (std::size_t r = 0; r < plans_.size(); ++r) {
        left = left || !open_[r].empty();
        for (const std::size_t block : open_[r].open()) {
          if (can_run(r, blocks_[r][block])) candidates.emplace_back(r, block);
        }
      }
      if (!left) return std::move(ordered_);
      if (candidates.empty()) return {};
      const auto [rank, block] = candidates[random_.below(candidates.size())];
      take(rank, blocks_[rank][block]);
      open_[rank].end(block);
    }
  }

 private:
  using Key = std::tuple<std::size_t, std::size_t, int>;  // sender, receiver, tag

  Key key(std::size_t rank, const PlannedMessage& message, bool is_send) const {
    const std::size_t peer = message.peer.index();
    return is_send ? Key(rank, peer, message.tag) : Key(peer, rank, message.tag);
  }

  bool can_run(std::size_t rank, const ReadyBlock& block) const {
    for (std::size_t step = block.first; step < block.run; ++step) {
      const Step& wait = plans_[rank].steps[step];
      if (const auto* receive = std::get_if<AwaitReceive>(&wait)) {
        if (!sent_.contains(key(rank, plans_[rank].receives[receive->receive], false)))
          return false;
      } else if (const auto* send = std::get_if<AwaitSend>(&wait)) {
        if (!sent_.contains(key(rank, plans_[rank].sends[send->send], true))) return false;
      }
    }
    return true;
  }

  void take(std::size_t rank, const ReadyBlock& block) {
    for (std::size_t i = block.first; i < block.end; ++i) {
      const Step& step = plans_[rank].steps[i];
      const auto* const receive = std::get_if<AwaitReceive>(&step);
      const auto* const awaited = std::get_if<AwaitSend>(&step);
      if (receive && !awaited_[rank].emplace(true, receive->receive).second) continue;
      if (awaited && !awaited_[rank].emplace(false, awaited->send).second) continue;
      if (const auto* const send = std::get_if<StartSend>(&step)) {
        sent_.insert(key(rank, plans_[rank].sends[send->send], true));
      }
      ordered_[rank].steps.push_back(step);
    }
  }

  const std::vector<RankPlan>& plans_;
  Random& random_;
  std::vector<std::vector<ReadyBlock>> blocks_;  // by rank
  std::vector<OpenBlocks> open_;
  std::vector<RankPlan> ordered_;
  std::set<Key> sent_;
  std::vector<std::set<std::pair<bool, std::size_t>>> awaited_;  // receives (true) and sends
};

/// The plans and orders that were checked.
struct CheckedOrders {
  Bytes arena = 0, all = 0;
  std::size_t await_sends = 0, other_orders = 0;
};

/// Checks three random orders of a random schedule. The checker knows the contents of every byte,
/// and nothing of the proofs by edges.
void check_orders(const CoarseGraph& coarse, std::uint64_t seed, CheckedOrders& checked) {
  const std::size_t ranks = 1 + seed % 4;
  const Schedule schedule = test::random_schedule(coarse.graph, ranks, 1 + seed % 3, seed);
  const bool keep_all = seed % 5 == 4;
  std::vector<RankPlan> plans;
  for (std::size_t r = 0; r < ranks; ++r) {
    plans.push_back(
        plan_rank(coarse, schedule, Rank(r), {.keep_all = keep_all, .any_order = true}));
    if (keep_all) continue;
    checked.arena += plans.back().arena_bytes;
    checked.all += plans.back().all_tensors_bytes;
  }
  Random random(seed);
  for (int order = 0; order < 3; ++order) {
    const auto ran = RandomOrder(coarse.graph, plans, random).run();
    ASSERT_TRUE(ran) << "a deadlock";
    for (std::size_t r = 0; r < ranks; ++r) {
      EXPECT_EQ(findings_in(coarse, (*ran)[r], keep_all), Lines{}) << "rank " << r;
      std::size_t last = 0;
      for (const Step& step : (*ran)[r].steps) {
        if (std::holds_alternative<AwaitSend>(step)) ++checked.await_sends;
        if (!std::holds_alternative<Compute>(step)) continue;
        if (stage_of(step) < last) ++checked.other_orders;
        last = stage_of(step);
      }
    }
  }
}

TEST(ReadyOrder, AnyOrderKeepsEveryTensorUntilItIsRead) {
  CheckedOrders checked;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    check_orders(test::random_network(5 + seed % 35, seed).coarse, seed, checked);
  }
  EXPECT_LT(checked.arena, checked.all) << "nothing is reused";
  EXPECT_GT(checked.await_sends, 0u) << "no slot of a sent tensor is reused";
  EXPECT_GT(checked.other_orders, 100u);
}

TEST(ReadyOrder, AnyOrderKeepsTheRowsOfCutOperators) {
  CheckedOrders checked;
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "any order of cuts");
    const Model model = test::random_layers(4 + seed % 8, random);
    const Network network = test::cut_network(model, test::random_cuts(model, random));
    cut += network.cuts.size();
    check_orders(network.coarse, seed, checked);
  }
  EXPECT_GT(cut, 40u);
  EXPECT_LT(checked.arena, checked.all);
  EXPECT_GT(checked.other_orders, 20u);
}

/// Three stages of one operator each, of which the last reads the first, and two evictions.
class ThreeStages : public testing::Test {
 protected:
  ThreeStages() {
    std::vector<Operator> operators(3);
    for (std::size_t i = 0; i < 3; ++i) operators[i].name = std::string(1, "abc"[i]);
    graph_ = Graph("three", std::move(operators), {{OpId(0), OpId(2), 64, {}}});
    plan_.any_order = true;
    plan_.stages = one_operator_stages({OpId(0), OpId(1), OpId(2)});
    plan_.evictions = {{{OpId(0), OpId(2)}, 64, 1, false, {}}, {{OpId(1)}, 64, 1, false, {}}};
    plan_.steps = {AwaitLoad{0, 0, 0}, Compute{0},         StartSend{0}, StartSend{1},
                   AwaitReceive{0, 1}, AwaitLoad{0, 1, 1}, Compute{1},   Evict{0},
                   Evict{1},           AwaitSend{1},       Compute{2}};
  }
  Graph graph_;
  RankPlan plan_;
};

TEST_F(ThreeStages, ABlockHasItsConditionsAndItsSends) {
  const auto blocks = ready_order(plan_, graph_);
  ASSERT_EQ(blocks.size(), 5u);
  const std::vector<std::tuple<std::size_t, std::size_t, std::size_t, bool>> expected = {
      {0, 1, 4, true}, {4, 6, 7, true}, {7, 7, 8, false}, {8, 8, 9, false}, {9, 10, 11, true}};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    EXPECT_EQ(std::tuple(blocks[i].first, blocks[i].run, blocks[i].end, blocks[i].is_stage),
              expected[i])
        << i;
  }
  EXPECT_EQ(blocks[0].followers, (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(blocks[1].followers, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(blocks[2].follows, 2u) << "its stage, and the reader before that; not the one after";
  EXPECT_EQ(blocks[3].follows, 1u);
  EXPECT_EQ(blocks[4].follows, 1u) << "the operator whose output it reads";
}

TEST_F(ThreeStages, OpenBlocksFollowTheOthers) {
  const auto blocks = ready_order(plan_, graph_);
  OpenBlocks open(blocks);
  const auto list = [&] { return std::vector(open.open().begin(), open.open().end()); };
  for (int iteration = 0; iteration < 2; ++iteration) {
    open.begin();
    EXPECT_EQ(list(), (std::vector<std::size_t>{0, 1}));
    EXPECT_EQ(open.stages(), 3u);
    open.end(1);
    EXPECT_EQ(list(), (std::vector<std::size_t>{0, 3}));
    open.end(0);
    EXPECT_EQ(list(), (std::vector<std::size_t>{2, 3, 4}));
    open.end(4);
    open.end(2);
    EXPECT_EQ(open.stages(), 0u);
    EXPECT_FALSE(open.empty());
    open.end(3);
    EXPECT_TRUE(open.empty());
  }
}

TEST_F(ThreeStages, APlanOfOneOrderIsRefused) {
  plan_.any_order = false;
  EXPECT_THROW(ready_order(plan_, graph_), std::logic_error);
}

}  // namespace
}  // namespace hios
