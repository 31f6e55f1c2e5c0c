#include "support/networks/mutated_runs.h"
#include "hios/schedule/schedule_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "hios/base/error.h"
#include "hios/evaluate/validate.h"
#include "support/networks/as_alone.h"
#include "support/networks/mutations.h"

namespace hios::test {
namespace {

ScheduleFile schedule_file(const Graph& graph, std::size_t devices, Random& random) {
  ScheduleFile file;
  file.graph_name = graph.name();
  file.graph_digest = graph.digest();
  file.algorithm = "mutated";
  file.has_prediction = false;
  const auto streams = static_cast<int>(1 + random.below(2));
  const bool tight = random.below(8) == 0;
  for (std::size_t d = 0; d < devices; ++d) {
    Device device;
    device.name = "cpu" + std::to_string(d);
    device.kind = "cpu";
    device.streams = streams;
    if (tight) device.memory_bytes = 2000 + random.below(20000);
    file.devices.push_back(device);
  }
  return file;
}

}  // namespace

MutatedSchedule::MutatedSchedule(std::uint64_t seed, std::size_t devices)
    : seed_(seed),
      network_(random_network(4 + seed % 9, seed, seed % 3 == 0 ? 2 : 4)),
      inputs_{.network = Network(network_.model, network_.coarse), .schedule = {}} {
  const Graph& graph = network_.coarse.graph;
  Random random(seed, "a stranger's schedule");
  ScheduleFile& file = inputs_.schedule;
  file = schedule_file(graph, devices, random);
  const auto streams = static_cast<std::size_t>(file.devices.front().streams);
  // One to three: after more, nothing is valid any more.
  file.schedule = mutated(random_schedule(graph, devices, streams, seed), all_mutations(),
                          1 + random.below(3), random, &what_);
  what_ = "seed " + std::to_string(seed) + ", " + std::to_string(devices) + " devices: " + what_;
  valid_ = validate(graph, Platform(file.devices), file.schedule).empty();
}

void MutatedSchedule::expect_checks_agree() const {
  const Graph& graph = network_.coarse.graph;
  job::RankOptions options;
  options.backends = {"reference"};
  std::string refusal;
  try {
    job::devices_of_ranks(inputs_, options, devices());
  } catch (const InputError& error) {
    refusal = error.what();
  }
  EXPECT_EQ(refusal.empty(), valid_) << refusal;
  EXPECT_TRUE(valid_ || refusal.starts_with("the schedule: $.devices")) << refusal;

  const Json json = parse_json(to_text(to_json(inputs_.schedule, graph)), "mutated.json");
  try {
    const ScheduleFile read = schedule_from_json(JsonView(json, "mutated.json"), graph);
    EXPECT_EQ(read.schedule, inputs_.schedule.schedule);
    EXPECT_EQ(read.devices, inputs_.schedule.devices);
  } catch (const InputError& error) {
    EXPECT_FALSE(valid_) << error.what();
  }
}

void MutatedSchedule::expect_as_one_rank(mpi::Transport& transport) const {
  expect_as_alone(transport, network_, inputs_.schedule.schedule, {.keep_all = seed_ % 2 == 1},
                  seed_, computed_alone(network_));
}

}  // namespace hios::test
