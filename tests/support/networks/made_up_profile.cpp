#include "support/networks/made_up_profile.h"

#include "hios/base/numbers/random.h"

namespace hios::test {

Profile made_up_profile(const Graph& graph, std::size_t ranks, std::string_view kind, int threads) {
  Configuration configuration;
  configuration.backend = configuration.kind = kind;
  configuration.threads = threads;
  configuration.ranks = ranks;
  for (const Operator& op : graph.operators()) {
    Random random(3, op.signature);
    const double ms = random.uniform(0.05, 2);
    configuration.operators[op.signature] = {ms, ms, 1};
  }
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from != to) {
        configuration.transfers.push_back({from, to, {{1 << 10, 0.005}, {1 << 24, 1.5}}});
      }
    }
  }
  return {{configuration}};
}

}  // namespace hios::test
