#include "hios/profile/growth.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/profile/profile_json.h"
#include "hios/profile/settling.h"
#include "support/expect_error.h"

namespace hios {
namespace {

Configuration of_threads(int threads) {
  Configuration made;
  made.backend = made.kind = "cpu";
  made.threads = threads;
  made.seconds = 10;
  made.operators = {{"a", {1, 1, 30}}, {"b", {2, 2, 30}}};
  made.protocol = Json{{"warmup", 5}};
  made.machine = Json{{"processor", "P"}, {"algorithms", {{"a", 1}}}};
  return made;
}

class Growth : public testing::Test {
 protected:
  void bring() { merge_changes(before_, mine_, now_); }
  /// The configurations of the file, of this program, and of the merged file.
  Configuration& before() { return before_.configurations.front(); }
  Configuration& mine() { return mine_.configurations.front(); }
  Configuration& now() { return now_.configurations.front(); }

  Profile before_{{of_threads(1)}}, mine_ = before_, now_ = before_;
};

TEST_F(Growth, KeepsTheMeasurementsOfBoth) {
  mine().operators["mine"] = {3, 3, 30};
  mine().stages[{{"a"}, {"b"}}] = {2.5, 2.5, 30};
  mine().transfers.push_back({0, 1, {{1024, 0.1}}});
  mine().seconds += 5;
  mine_.configurations.push_back(of_threads(2));
  now().operators["theirs"] = {4, 4, 30};
  now().stages[{{"a"}, {"theirs"}}] = {4.5, 4.5, 30};
  now().transfers.push_back({1, 0, {{1024, 0.2}}});
  now().seconds += 7;
  now_.configurations.push_back(of_threads(4));
  bring();
  EXPECT_EQ(now().operators.size(), 4u);
  EXPECT_EQ(now().stages.size(), 2u);
  EXPECT_EQ(now().transfers.size(), 2u);
  EXPECT_EQ(now().seconds, 22);
  ASSERT_EQ(now_.configurations.size(), 3u);
  EXPECT_EQ(now_.configurations[1].threads, 4);
  EXPECT_EQ(now_.configurations[2].threads, 2);
}

TEST_F(Growth, KeepsWhatManyInferencesNeed) {
  mine().warm["a"] = {1, 2, 100, 30};
  now().warm["theirs"] = {3, 4, 100, 30};
  now().io_charge = MeasuredCharge{{0.5, 0.5}, 10};
  bring();
  EXPECT_EQ(now().warm.size(), 2u);
  EXPECT_EQ(now().io_charge->charge.send, 0.5) << "not measured here";
  mine().io_charge = MeasuredCharge{{0.25, 0.5}, 10};
  bring();
  EXPECT_EQ(now().io_charge->charge.send, 0.25);
}

TEST_F(Growth, KeepsTheLastMeasuredLaunch) {
  now().launch = {0.02, 0.001, 10};
  bring();
  EXPECT_EQ(now().launch->ms, 0.02) << "not measured here";
  mine().launch = {0.01, 0.002, 10};
  bring();
  EXPECT_EQ(now().launch->ms, 0.01);
}

TEST_F(Growth, ReadTimesDoNotReplaceNewerOnes) {
  now().operators["a"] = {0.5, 0.5, 100};
  mine().operators["b"] = {1.5, 1.5, 100};
  bring();
  EXPECT_EQ(now().operators["a"].ms, 0.5);
  EXPECT_EQ(now().operators["b"].ms, 1.5);
}

TEST_F(Growth, TheLaterOfTwoMeasurementsCounts) {
  now().operators["a"] = {0.5, 0.5, 100};
  now().transfers = {{0, 1, {{1024, 0.2}}}};
  mine().operators["a"] = {0.7, 0.7, 90};
  mine().transfers = {{0, 1, {{1024, 0.3}}}};
  bring();
  EXPECT_EQ(now().operators["a"].ms, 0.7);
  ASSERT_EQ(now().transfers.size(), 1u);
  EXPECT_EQ(now().transfers[0].points[0].second, 0.3);
}

TEST_F(Growth, WithNobodyElseAddsItsOwnTimes) {
  mine().operators["mine"] = {3, 3, 30};
  mine().protocol["warmup"] = 7;
  add_settling(mine(), "operators", {.sweeps = 30, .disturbed = 1, .settled = true});
  mine().seconds += 5;
  bring();
  EXPECT_EQ(to_json(now_).dump(), to_json(mine_).dump());
}

TEST_F(Growth, AddsOnlyNewTimesToAReplacedFile) {
  now_ = {{of_threads(8)}};
  mine().operators["mine"] = {3, 3, 30};
  bring();
  EXPECT_EQ(now_.configurations.size(), 2u);
}

TEST_F(Growth, MachineAndProtocolAreChangedWhereTheyWereChanged) {
  mine().machine["algorithms"]["mine"] = 3;
  mine().protocol["warmup"] = 7;
  now().machine["algorithms"]["theirs"] = 4;
  now().protocol["statistic"] = "x";
  bring();
  EXPECT_EQ(now().machine["algorithms"].dump(), R"({"a":1,"theirs":4,"mine":3})");
  EXPECT_EQ(now().protocol->dump(), R"({"warmup":7,"statistic":"x"})");
}

TEST_F(Growth, TimesThatOthersRemovedStayRemoved) {
  mine().machine["algorithms"]["mine"] = 3;
  now().machine["algorithms"].erase("a");
  bring();
  EXPECT_EQ(now().machine["algorithms"].dump(), R"({"mine":3})");
}

TEST_F(Growth, TimesOfTwoMachinesAreNotMixed) {
  now().machine["processor"] = "Q";
  test::expect_error([&] { bring(); },
                     {"measured meanwhile on another processor", "Q", "P", "another file"});
}

TEST_F(Growth, SweepsAddUpOnce) {
  for (Profile* each : {&before_, &mine_, &now_})
    add_settling(each->configurations[0], "operators", {.sweeps = 100, .disturbed = 10});
  add_settling(mine(), "operators", {.sweeps = 30, .disturbed = 1});
  add_settling(now(), "operators", {.sweeps = 50, .disturbed = 2});
  bring();
  EXPECT_EQ(now().protocol["settling"]["operators"].dump(), R"({"sweeps":180,"disturbed":13})");
}

TEST_F(Growth, MarksFollowTheMeasurementThatCounts) {
  for (Profile* each : {&before_, &mine_, &now_})
    mark_operators(each->configurations[0], {"a", "b"}, false);
  mine().operators["a"] = {0.9, 0.9, 30};  // measured again, by enough sweeps
  mark_operators(mine(), {"a"}, true);
  now().operators["b"] = {1.9, 1.9, 30};
  mark_operators(now(), {"b"}, true);
  bring();
  EXPECT_FALSE(is_incomplete(mine()) && unfinished_operators(mine()).empty());
  EXPECT_EQ(unfinished_operators(now()), std::set<std::string>{});

  now_ = before_;
  mine().operators["c"] = {3, 3, 2};
  mark_operators(mine(), {"c"}, false);
  bring();
  EXPECT_EQ(unfinished_operators(now()), (std::set<std::string>{"b", "c"}));
}

TEST_F(Growth, AddsAllTimesToAFileThatAnotherCreated) {
  before_ = {};
  mine().machine["algorithms"] = {{"mine", {{"tile", 3}}}};
  now().machine->erase("algorithms");
  now().machine["cores"] = 2;
  bring();
  EXPECT_EQ(now().machine->dump(),
            R"({"processor":"P","cores":2,"algorithms":{"mine":{"tile":3}}})");
  EXPECT_EQ(now().seconds, 20);
}

TEST_F(Growth, RemovesAMarkThatItsMeasurementRemoved) {
  for (Profile* each : {&before_, &now_}) mark_incomplete(each->configurations[0], true);
  bring();
  EXPECT_FALSE(is_incomplete(now()));
}

}  // namespace
}  // namespace hios
