// Networks whose operators are cut, in stages of two streams on the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/backends.h"
#include "engine/job/ranks/algorithm_agreement.h"
#include "engine/job/verification.h"
#include "engine/run/executor.h"
#include "mpi/messages/serial.h"
#include "support/networks/random_cuts.h"
#include "support/networks/random_network.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

constexpr std::uint64_t kStreamsSeed = 11;

/// Returns Winograd's method for each convolution that has it.
Json winograd_everywhere(const Network& network) {
  Json methods = Json::object();
  for (const OperatorLayers& op : network.coarse.operators) {
    if (!std::holds_alternative<ConvolutionChain>(op.form)) continue;
    methods[signature_of(op, network.model)] = "winograd 4";
  }
  return methods;
}

/// Returns the cuts that are certified for stages of two groups on two cores, by algorithms that
/// the backend then has.
Cuts certified_for_two_streams(const Model& model, Cuts cuts, Backend& backend) {
  for (;;) {
    const Network cut = test::cut_network(model, cuts);
    std::vector<std::string> others;
    test::run_ranks(1, [&](mpi::Transport& transport) {
      others = job::agree_on_algorithms(transport, backend, cut.coarse, cut.model, {},
                                        Choosing::kByTiming, 2)
                   .uncertified;
    });
    if (others.empty()) return cuts;
    std::erase_if(cuts, [&](const Cut& each) { return std::ranges::count(others, each.op) > 0; });
  }
}

/// Returns the cores of each operator of the whole network: both for those that were cut, as many
/// as the schedule gives for the others, whose bits may depend on them.
std::vector<int> cores_of_wholes(const Network& whole, const Network& cut,
                                 const Schedule& schedule) {
  std::vector<int> cores(whole.coarse.graph.size(), 2);
  for (const Stage& stage : schedule.devices.front()) {
    const std::vector<CoreShare> shares = core_shares(stage.groups.size(), 2);
    for (std::size_t g = 0; g < stage.groups.size(); ++g) {
      for (const OpId op : stage.groups[g]) {
        const bool is_shard =
            cut.model.layer(cut.coarse.layers(op).layers.back()).range.has_value();
        const auto same = whole.coarse.graph.find(cut.coarse.whole_names[op.index()]);
        if (same && !is_shard) cores[same->index()] = shares[g].threads;
      }
    }
  }
  return cores;
}

/// Runs the schedule on one rank and expects the whole network's bits in all tensors that have
/// their names there. Returns the number of these.
std::size_t expect_whole(const Network& whole, const Network& cut, const Schedule& schedule,
                         Backend& backend) {
  SeededSource source(kStreamsSeed);
  const job::OneRankRun alone(whole.coarse, whole.model, backend,
                              cores_of_wholes(whole, cut, schedule), source, "");
  test::NamedOutputs expected;
  for (std::size_t i = 0; i < whole.coarse.graph.size(); ++i) {
    expected[whole.model.tensor(whole.coarse.operators[i].output).name] = alone.output(OpId(i));
  }
  const RankPlan plan = plan_rank(cut.coarse, schedule, Rank(0), {.keep_all = true});
  const auto transport = mpi::make_serial_transport();
  Executor executor({cut.coarse, cut.model, backend, *transport, source}, plan);
  executor.run_once();
  std::size_t compared = 0;
  for (const Slot& slot : plan.slots) {
    const auto wanted = expected.find(cut.model.tensor(cut.coarse.layers(slot.op).output).name);
    if (wanted == expected.end()) continue;  // a shard
    EXPECT_TRUE(job::compare(executor.output(slot.op), wanted->second, {0, 0}).bitwise)
        << wanted->first;
    ++compared;
  }
  return compared;
}

// In a stage of two groups a shard has one of the two cores that its whole has.
TEST(CutStreams, HaveTheBitsOfTheWhole) {
  std::size_t cuts_of_all = 0, compared = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cut streams");
    const Model model = test::random_layers(10, random);
    const Network whole(model);
    BackendOptions options;
    options.threads = 2;
    options.algorithms = winograd_everywhere(whole);
    const auto backend = find_backend("cpu").make(options);
    const Cuts cuts = certified_for_two_streams(model, test::random_cuts(model, random), *backend);
    if (cuts.empty()) continue;
    const Network cut = test::cut_network(model, cuts);
    const Schedule schedule = test::random_schedule(cut.coarse.graph, 1, 2, seed);
    compared += expect_whole(whole, cut, schedule, *backend);
    cuts_of_all += cuts.size();
  }
  EXPECT_GT(cuts_of_all, 10u);
  EXPECT_GT(compared, 20u);
}

}  // namespace
}  // namespace hios
