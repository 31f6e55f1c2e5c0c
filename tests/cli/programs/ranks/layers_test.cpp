// hios-run's table of operators: each once, where the schedule has it, with what it sends.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "hios/graph/fusion/coarsen.h"
#include "hios/model/networks/networks.h"
#include "hios/schedule/schedule.h"
#include "hios/schedule/schedule_json.h"
#include "support/networks/random_network.h"
#include "support/programs/programs.h"
#include "support/schema.h"

namespace hios::test {
namespace {

class LayersTable : public testing::Test {
 protected:
  LayersTable() : model_(models::find("squeezenet")->build(1, 48, 48)), coarse_(coarsen(model_)) {}

  Words run_flags(const std::string& report) const {
    return {"--model", "squeezenet", "--height",     "48", "--width", "48",  "--warmup",
            "0",       "--layers",   "--iterations", "2",  "--json",  report};
  }

  /// By stages of several groups, some of several operators.
  std::string random_schedule_file(std::size_t ranks) {
    ScheduleFile file;
    file.graph_name = coarse_.graph.name();
    file.graph_digest = coarse_.graph.digest();
    file.batch = 1;
    file.height = file.width = 48;
    file.algorithm = "random";
    const Platform platform = Platform::homogeneous(ranks, "cpu", 1, 2);
    file.devices.assign(platform.devices().begin(), platform.devices().end());
    file.schedule = random_schedule(coarse_.graph, ranks, 2, 23);
    folder_.write("schedule.json", to_text(to_json(file, coarse_.graph)));
    return folder_.file("schedule.json");
  }

  /// Each operator of the schedule once, at its rank and stage; the table's rows are the same.
  void expect_all_operators(const Json& report, const std::string& printed) {
    expect_meets_schema(report);
    std::set<std::string> found, wanted;
    for (const Json& stage : report["stages"]) {
      for (const Json& group : stage["operators"]) {
        for (const Json& op : group) {
          wanted.insert(op.get<std::string>() + " " + stage["rank"].dump() + " " +
                        stage["stage"].dump());
        }
      }
    }
    std::vector<Bytes> sent(report["ranks"].size(), 0);
    for (const Json& row : report["operators"]) {
      const std::string name = row["operator"];
      found.insert(name + " " + row["rank"].dump() + " " + row["stage"].dump());
      EXPECT_GT(row["measured_ms"].get<double>(), 0) << row;
      sent[row["rank"].get<std::size_t>()] += row["sent_bytes"].get<Bytes>();
      const auto rows = lines_with(printed, name + " ");
      const auto begins = [&](const std::string& line) { return line.starts_with(name + " "); };
      EXPECT_EQ(std::ranges::count_if(rows, begins), 1) << name << " in\n" << printed;
    }
    EXPECT_EQ(found, wanted);
    EXPECT_EQ(report["operators"].size(), coarse_.graph.size());
    for (std::size_t rank = 0; rank < sent.size(); ++rank) {
      EXPECT_EQ(report["ranks"][rank]["sent_bytes"], sent[rank]) << "rank " << rank;
    }
  }

  Model model_;
  CoarseGraph coarse_;
  TestFolder folder_;
};

TEST_F(LayersTable, PredictsOneRankByTheProfile) {
  const std::string profile = folder_.file("p.json"), schedule = folder_.file("s.json");
  const Words model = {"--model", "squeezenet", "--height", "48", "--width", "48"};
  const auto measured = hios_profile(1, model + Words{"--iterations", "3", "--output", profile});
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  const auto planned =
      hios_schedule(model + Words{"--profile", profile, "--devices", "1", "--algorithm",
                                  "sequential", "--output", schedule});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const std::string report = folder_.file("r.json");
  const auto done =
      hios_run(1, run_flags(report) + Words{"--schedule", schedule, "--profile", profile});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json all = read(report);
  expect_all_operators(all, done.out);
  double sum = 0;
  for (const Json& row : all["operators"]) sum += row["predicted_ms"].get<double>();
  EXPECT_GT(sum, 0);
  // One after the other on one rank: what the plan adds up to.
  EXPECT_NEAR(sum, all["predicted_ms"].get<double>(), 1e-6 * sum);
}

TEST_F(LayersTable, IsWrittenOnlyWithItsFlag) {
  const std::string with = folder_.file("with.json"), without = folder_.file("without.json");
  const auto done = hios_run(1, run_flags(with));
  ASSERT_EQ(done.exit_status, 0) << done.err;
  expect_all_operators(read(with), done.out);
  EXPECT_TRUE(read(with)["operators"][0]["predicted_ms"].is_null()) << "nothing predicts";
  Words flags = run_flags(without);
  std::erase(flags, "--layers");
  const auto plain = hios_run(1, flags);
  ASSERT_EQ(plain.exit_status, 0) << plain.err;
  EXPECT_FALSE(read(without).contains("operators"));
  EXPECT_TRUE(lines_with(plain.out, "share %").empty()) << plain.out;
}

#ifdef HIOS_MPIEXEC
TEST_F(LayersTable, ShowsTwoRanksAsScheduled) {
  const std::string report = folder_.file("r.json");
  const auto done = hios_run(2, run_flags(report) + Words{"--schedule", random_schedule_file(2)});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  expect_all_operators(read(report), done.out);
}
#endif

}  // namespace
}  // namespace hios::test
