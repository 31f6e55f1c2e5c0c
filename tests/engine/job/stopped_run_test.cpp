// A run whose ranks get a stop request, or hang, before its end.
#include <gtest/gtest.h>

#include "engine/job/run_job.h"
#include "engine/job/small_job.h"
#include "mpi/session/heartbeat_transport.h"
#include "support/schema.h"
#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

// A watchdog so knows within an operator's time that a rank hangs, and not only after the time of
// the whole network.
TEST(StoppedRun, VerifyingRanksHearOfEachOtherAfterEachOperator) {
  const RunInputs inputs = inputs_for(Network(small_model()), {"cpu", "cpu"}, 21);
  const auto calls = [&](Verify verify) {
    std::vector<std::uint64_t> by_rank(2);
    test::run_ranks(2, [&](mpi::Transport& transport) {
      RunOptions options = options_with({"reference"});
      options.verify = verify;
      Watch watch(transport, 0);
      RunJob(watch, inputs, options).run();
      by_rank[transport.rank().index()] =
          dynamic_cast<mpi::HeartbeatTransport&>(watch.transport()).heartbeats();
    });
    return by_rank;
  };
  const auto without = calls(Verify::kNo), with = calls(Verify::kOutputs);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_GE(with[r] - without[r], 2 * inputs.network.coarse.graph.size())
        << "rank " << r << ", whether or not it holds an output";
  }
}

// Rank 1 alone gets a stop request at each moment: in the warm-up, the measured runs, the recorded
// runs, the verification, and at last never.
TEST(StoppedRun, StoppedAnywhereItKeepsWhatItMeasured) {
  const RunInputs inputs = inputs_for(Network(small_model()), {"cpu", "cpu"}, 21);
  bool nothing = false, without_record = false, without_verification = false, whole = false;
  for (int stop_at = 1; !whole; ++stop_at) {
    SCOPED_TRACE(stop_at);
    ASSERT_LT(stop_at, 100);
    test::run_ranks(2, [&](mpi::Transport& transport) {
      RunOptions options = options_with({"reference"});
      options.verify = Verify::kOperators;
      int asked = 0;
      options.protocol.stop = [&] { return transport.rank() == Rank(1) && ++asked >= stop_at; };
      Watch watch(transport, 0);
      RunJob job(watch, inputs, options);
      const RunResults results = job.run();
      EXPECT_EQ(results.stopped, !results.verified || !results.measured) << "all was done";
      EXPECT_LE(results.iterations_ms.size(), 3u);
      if (results.measured) {
        EXPECT_EQ(results.iterations_ms.size(), 3u);
        EXPECT_EQ(results.measured->stages.size(), 2u);
      }
      if (results.verified) {
        EXPECT_TRUE(results.verified->passed());
      }
      if (!results.iterations_ms.empty()) {
        const Report report = make_report(inputs, options, job.setup(), results);
        test::expect_meets_schema(to_json(report, inputs.network.coarse.graph));
      }
      if (transport.rank() != Rank(0)) return;
      nothing = nothing || results.iterations_ms.empty();
      without_record = without_record || (!results.iterations_ms.empty() && !results.measured);
      without_verification = without_verification || (results.measured && !results.verified);
      whole = !results.stopped;
    });
  }
  EXPECT_TRUE(nothing && without_record && without_verification);
}

}  // namespace
}  // namespace hios::job
