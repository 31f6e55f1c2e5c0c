// Warnings about facts that spoil a job's times; the facts are made for the test.
#include "engine/job/ranks/surroundings.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hios/platform/platform.h"

namespace hios::job {
namespace {

RankSurroundings rank_on(const std::string& host) {
  RankSurroundings rank;
  rank.host = host;
  rank.backend = rank.kind = "cpu";
  rank.facts.kernel = "6.1";
  rank.facts.processor = "P";
  rank.facts.cores = {0, 1, 2, 3};
  rank.facts.governor = "performance";
  rank.description = Json{{"library", "oneDNN 2.6.3"}};
  rank.path = "Open MPI 4.1.4, shared memory with CMA";
  return rank;
}

class HostWarnings : public testing::Test {
 protected:
  /// Expects one line with this need and nothing else.
  void expect(const Need& need, const std::string& text) const {
    const auto found = host_warnings(ranks_);
    ASSERT_EQ(found.size(), 1u) << (found.empty() ? "nothing" : found.front().text);
    EXPECT_EQ(found[0].need, need);
    EXPECT_EQ(found[0].text.find(text), 0u) << found[0].text;
    EXPECT_EQ(found[0].text.find('\n'), std::string::npos);
  }
  void expect_none() const {
    for (const HostWarning& warning : host_warnings(ranks_)) ADD_FAILURE() << warning.text;
  }

  std::vector<RankSurroundings> ranks_ = {rank_on("a"), rank_on("a"), rank_on("b")};
};

TEST_F(HostWarnings, AreNoneWithoutCause) { expect_none(); }

TEST_F(HostWarnings, AreNoneForUnknownFacts) {
  for (RankSurroundings& rank : ranks_) rank.facts = {};
  expect_none();
}

TEST_F(HostWarnings, NameMoreThreadsThanCores) {
  ranks_[0].threads = ranks_[1].threads = 2;
  expect_none();
  ranks_[0].threads = 3;
  expect(need::UnsharedCores{}, "a: its 2 ranks want 5 cores and may use 4");
}

TEST_F(HostWarnings, AddUpTheCoresOfBoundRanks) {
  ranks_[0].facts.cores = {0};
  ranks_[1].facts.cores = {1};
  expect_none();
  ranks_[1].facts.cores = {0};
  expect(need::UnsharedCores{}, "a: its 2 ranks want 2 cores and may use 1");
}

TEST_F(HostWarnings, NameMoreThreadsThanAQuota) {
  ranks_[2].facts.quota_cores = 1;
  expect_none();
  ranks_[2].threads = 2;
  expect(need::CoreQuota{}, "b: its 1 rank wants 2 cores, and control groups grant the time of 1");
  ranks_[2].facts.quota_cores = 1.5;
  expect(need::CoreQuota{},
         "b: its 1 rank wants 2 cores, and control groups grant the time of 1.5");
}

TEST_F(HostWarnings, NameProcessorsThatSlowDown) {
  ranks_[2].facts.governor = "powersave";
  expect(need::PerformanceGovernor{}, "b: the frequency governor is powersave");
}

TEST_F(HostWarnings, NameMessagesThatAreCopiedTwice) {
  for (RankSurroundings& rank : ranks_) {
    rank.path = "Open MPI 4.1.4, shared memory without CMA";
    rank.facts.ptrace_scope = 1;
  }
  expect(need::SingleCopy{"Open MPI 4.1.4", 1},
         "messages between the ranks of a host are copied twice");
  ranks_.erase(ranks_.begin());
  expect_none();  // one rank a host: no copies
}

TEST_F(HostWarnings, NameGpusWhoseTensorsMpiCannotSend) {
  ranks_[0].kind = kGpuKind;
  expect(need::CudaAwareMpi{}, "this MPI is not CUDA-aware");
  for (RankSurroundings& rank : ranks_) rank.device_messages = true;
  expect_none();
  ranks_ = {ranks_[0]};
  ranks_[0].device_messages = false;
  expect_none();  // one rank sends nothing
}

TEST_F(HostWarnings, NameHostsWhoseRanksSeeOnlyTheirOwnGpu) {
  for (RankSurroundings& rank : ranks_) rank.sees_other_devices = rank.host != "a";
  expect(Need{}, "a: each rank sees its own GPU only, so CUDA IPC cannot join them");
}

TEST_F(HostWarnings, NameHostsAndLibrariesThatDiffer) {
  ranks_[2].facts.processor = "Q";
  expect(need::AlikeHosts{}, "processors differ: ranks 0 and 1 have P, rank 2 has Q");
  ranks_[2] = rank_on("b");
  ranks_[2].facts.kernel = "5.10";
  expect(need::AlikeHosts{}, "kernels differ: ranks 0 and 1 have 6.1, rank 2 has 5.10");
  ranks_[2] = rank_on("b");
  ranks_[2].path = "Open MPI 5.0.3, shared memory with CMA";
  expect(need::AlikeHosts{}, "MPI libraries differ: ranks 0 and 1 have Open MPI 4.1.4, rank 2 has");
  ranks_[2] = rank_on("b");
  ranks_[2].description["library"] = "oneDNN 3.2.0";
  expect(need::AlikeHosts{},
         "libraries of the cpu backend differ: ranks 0 and 1 have oneDNN 2.6.3");
  ranks_[2].backend = "reference";  // another backend may have another library
  expect_none();
}

}  // namespace
}  // namespace hios::job
