#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/job/run_job.h"
#include "support/networks/random_network.h"
#include "support/transports/fake_job.h"

/// Small jobs for tests of engine/job: a network, a schedule of random stages, options.
namespace hios::job {

using Names = std::vector<std::string>;

inline Model small_model() {
  ModelBuilder b("small", {1, 3, 9, 8});
  const TensorId stem = b.relu("stem_relu", b.conv("stem", b.input(), {8, {3, 3}, {1, 1}, {1, 1}}));
  const TensorId left = b.conv("left", stem, {8, {1, 1}, {1, 1}, {0, 0}});
  const TensorId right = b.pool("right", stem, {Pool::Kind::kAverage, {3, 3}, {1, 1}, {1, 1}});
  const TensorId other = b.conv("other", b.input(), {8, {1, 1}, {1, 1}, {0, 0}});
  const TensorId sum = b.sum("sum", {left, right, other});
  b.concat("concat", {sum, left});
  return std::move(b).build();
}

/// A schedule for devices of these kinds, by rank: "cpu" with one thread, "gpu" with none.
inline ScheduleFile schedule_for(const Graph& graph, const Names& kinds, std::uint64_t seed) {
  ScheduleFile file;
  file.graph_name = graph.name();
  file.graph_digest = graph.digest();
  file.algorithm = "random";
  for (std::size_t r = 0; r < kinds.size(); ++r) {
    Device device;
    device.name = kinds[r] + std::to_string(r);
    device.kind = kinds[r];
    device.threads = kinds[r] == "cpu" ? 1 : 0;
    device.streams = 2;
    file.devices.push_back(device);
  }
  file.schedule = test::random_schedule(graph, kinds.size(), 2, seed);
  file.has_prediction = false;
  return file;
}

inline RunInputs inputs_for(Network network, const Names& kinds, std::uint64_t seed) {
  ScheduleFile schedule = schedule_for(network.coarse.graph, kinds, seed);
  return {.network = std::move(network), .schedule = std::move(schedule)};
}

inline Network fake_network(std::uint64_t seed) {
  test::RandomNetwork random = test::random_network(20, seed);
  return {std::move(random.model), std::move(random.coarse)};
}

/// Options with shared cores, which these tests do not check.
inline RunOptions options_with(const Names& backends,
                               std::span<const BackendEntry> table = hios::backends()) {
  RunOptions options;
  options.ranks.backends = backends;
  options.ranks.table = table;
  options.ranks.share_cores = true;
  options.protocol = {.warmup = 1, .iterations = 3};
  return options;
}

}  // namespace hios::job
