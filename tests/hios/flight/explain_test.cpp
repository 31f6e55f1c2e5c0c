#include "hios/flight/explain.h"

#include <gtest/gtest.h>

#include "hios/base/error.h"

namespace hios::flight {
namespace {

Flight rank(std::size_t number, std::vector<Event> events, Ending ending = Ending::kTimeOut) {
  Flight flight;
  flight.program = "probe";
  flight.job = "job";
  flight.rank = number;
  flight.ranks = 3;
  flight.host = "n" + std::to_string(number);
  flight.written_s = 1000;
  flight.ending = ending;
  flight.events = std::move(events);
  return flight;
}

Event waits_for(std::size_t peer, const std::string& op) {
  return {EventKind::kAwaitReceive, 60'000, 7, "waiting for " + op, op, peer, 2, 64};
}
Event computes(const std::string& op) {
  return {EventKind::kOperator, 60'000, 7, "", op, {}, 1, 0};
}
Event in_barrier() {
  return {EventKind::kCollective, 60'000, 0, "waiting (barrier)", "", {}, {}, 0};
}

bool says(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Explain, FindsTheRankThatWaitsForNobody) {
  const std::string text =
      explain({rank(2, {in_barrier()}), rank(0, {waits_for(1, "conv_3")}),
               rank(1, {{EventKind::kStage, 61'000, 7, "stage 1: conv_9", "", {}, 1, 0},
                        computes("conv_9")})});
  EXPECT_TRUE(says(text, "rank 0 on n0: waiting for conv_3, iteration 7, for 60.0 s")) << text;
  EXPECT_TRUE(says(text, "rank 1 on n1: conv_9 in stage 1, iteration 7")) << text;
  EXPECT_TRUE(says(text, "rank 0 waits for rank 1, which has not sent conv_3 in iteration 7"));
  EXPECT_TRUE(says(text, "look first at rank 1, which waited for nobody")) << text;
}

TEST(Explain, FindsALostMessage) {
  const Event sent{EventKind::kSend, 60'500, 7, "sending conv_3", "conv_3", 0, 1, 64};
  const std::string text = explain(
      {rank(0, {waits_for(1, "conv_3")}), rank(1, {sent, in_barrier()}), rank(2, {in_barrier()})});
  EXPECT_TRUE(says(text, "which began to send conv_3 in iteration 7")) << text;
  EXPECT_TRUE(says(text, "look first at rank 0")) << text;
}

TEST(Explain, FindsADeadlock) {
  const std::string text = explain(
      {rank(0, {waits_for(1, "a")}), rank(1, {waits_for(2, "b")}), rank(2, {waits_for(1, "c")})});
  EXPECT_TRUE(says(text, "look first at ranks 1 and 2: each waits")) << text;
}

TEST(Explain, NamesTheRankWithoutARecord) {
  const std::string text = explain({rank(0, {waits_for(1, "a")}), rank(2, {in_barrier()})});
  EXPECT_TRUE(says(text, "rank 1: no record")) << text;
  EXPECT_TRUE(says(text, "look first at rank 1, which left no record")) << text;
}

TEST(Explain, AFailureIsLookedAtFirst) {
  Flight asked = rank(0, {waits_for(1, "a")}, Ending::kSignal);
  asked.reason = kAskedToEnd;
  Flight killed = rank(1, {computes("a")}, Ending::kKilled);
  const std::string text = explain({asked, killed, rank(2, {in_barrier()}, Ending::kRunning)});
  EXPECT_TRUE(says(text, "look first at rank 1, which failed")) << text;
}

TEST(Explain, EventsAfterTheEndAreNoCause) {
  Flight stopped = rank(
      1, {in_barrier(), {EventKind::kCollectiveEnd, 100, 0, "", "", {}, {}, 0}, waits_for(0, "x")},
      Ending::kSignal);
  stopped.reason = kAskedToEnd;
  stopped.events.back().age_ms = 90;
  stopped.written_s = 1001;  // went on after rank 0 had ended
  const std::string text = explain({rank(0, {waits_for(1, "a")}), stopped});
  EXPECT_FALSE(says(text, "rank 1 waits for rank 0")) << text;
}

TEST(Explain, BlamesNobodyByARecordThatDoesNotReachBack) {
  // Rank 1 has gone on: the records are of different moments, and its ring buffer has lost its
  // sends.
  Flight later = rank(1, {computes("conv_9")}, Ending::kRunning);
  later.events[0].iteration = 10;
  const std::string text = explain({rank(0, {waits_for(1, "a")}), later, rank(2, {in_barrier()})});
  EXPECT_FALSE(says(text, "has not sent")) << text;
  EXPECT_TRUE(says(text, "does not reach back")) << text;
}

TEST(Explain, ReportsThatAJobRuns) {
  Event wait = waits_for(1, "a");
  wait.age_ms = 3;
  Event busy = computes("b");
  busy.age_ms = 2;
  const std::string text =
      explain({rank(0, {wait}, Ending::kRunning), rank(1, {busy}, Ending::kRunning)});
  EXPECT_TRUE(says(text, "the job runs")) << text;
  EXPECT_FALSE(says(text, "look first")) << text;
}

TEST(Explain, CountsRanksWithoutARecordTogether) {
  Flight last = rank(5, {in_barrier()});
  Flight first = rank(1, {in_barrier()});
  for (Flight* flight : {&first, &last}) flight->ranks = 1'000'000;
  const std::string text = explain({last, first});
  EXPECT_TRUE(says(text, "ranks 0, 2 to 4, 6 to 999999: no record")) << text;
}

TEST(Explain, AFailureThatWaitedForNobodyIsTheCause) {
  const std::string text = explain(
      {rank(0, {computes("b")}, Ending::kKilled), rank(1, {waits_for(0, "b")}, Ending::kKilled)});
  EXPECT_TRUE(says(text, "look first at rank 0, which failed")) << text;
}

TEST(Explain, ARankThatMetNobodyBelongsToTheJob) {
  Flight early = rank(2, {}, Ending::kTimeOut);
  early.job.clear();
  EXPECT_NO_THROW(explain({rank(0, {}), rank(1, {}), early}));
}

TEST(Explain, LeavesOutEarlierJobs) {
  Flight earlier = rank(2, {});
  earlier.job = "another";
  earlier.written_s = 900;
  earlier.file = "probe-rank-2.flight.json";
  const std::string text = explain({earlier, rank(0, {in_barrier()})});
  EXPECT_TRUE(text.starts_with(
      "left out, since they are of earlier jobs: probe-rank-2.flight.json\n\nrank 0"))
      << text;
  EXPECT_TRUE(says(text, "ranks 1 to 2: no record")) << text;
  EXPECT_FALSE(says(explain({rank(0, {in_barrier()})}), "left out"));
}

TEST(Explain, RefusesRecordsThatDoNotBelongTogether) {
  EXPECT_THROW(explain({rank(0, {}), rank(0, {})}), InputError);
  Flight nobody = rank(0, {});
  nobody.rank.reset();
  EXPECT_THROW(explain({nobody}), InputError);
}

}  // namespace
}  // namespace hios::flight
