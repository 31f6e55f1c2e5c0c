// Stages of networks whose operators are cut are measured on tensors that lie as in a run: each
// operator reads the rows that others have just produced for it.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/measure/stages/stage_batch.h"
#include "mpi/messages/serial.h"
#include "support/fakes/addresses_backend.h"
#include "support/networks/random_cuts.h"
#include "support/networks/random_network.h"

namespace hios {
namespace {

using test::AddressesBackend;

/// Expects that an operator reads the outputs of those that its edges name where they lie in its
/// inputs, and nothing else. Returns the number of inputs that have several producers.
std::size_t expect_reads(const Network& network, OpId op, const AddressesBackend& backend) {
  const CoarseGraph& coarse = network.coarse;
  const AddressesBackend::Addresses& mine = backend.of.at(coarse.graph.op(op).name);
  std::set<OpId> producers;
  for (const EdgeId edge : coarse.graph.in_edges(op)) {
    producers.insert(coarse.graph.edge(edge).from);
  }
  std::size_t joined = 0;
  for (std::size_t i = 0; i < mine.inputs.size(); ++i) {
    const TensorId tensor = coarse.layers(op).inputs[i];
    const Place place = coarse.places.of(tensor);
    const ByteRange read{place.begin,
                         place.begin + coarse.size_bytes(network.model.tensor(tensor).shape)};
    std::size_t found = 0;
    Bytes there = 0;
    for (const OpId from : producers) {
      const Place made = coarse.place_of(from);
      const ByteRange both =
          common(read, {made.begin, made.begin + coarse.graph.op(from).memory_bytes});
      if (made.region != place.region || both.empty()) continue;
      const std::byte* const output = backend.of.at(coarse.graph.op(from).name).output;
      EXPECT_EQ(mine.inputs[i] + (both.begin - read.begin), output + (both.begin - made.begin))
          << coarse.graph.op(op).name << " reads " << coarse.graph.op(from).name;
      there += both.size();
      ++found;
    }
    if (found > 0) {
      EXPECT_EQ(there, read.size()) << coarse.graph.op(op).name;
    }
    joined += found > 1 ? 1 : 0;
  }
  return joined;
}

/// Expects that no two of the outputs share bytes.
void expect_apart(const Network& network, const AddressesBackend& backend) {
  const std::byte* end = nullptr;
  std::map<const std::byte*, Bytes> outputs;
  for (const auto& [name, addresses] : backend.of) {
    const OpId op = *network.coarse.graph.find(name);
    outputs[addresses.output] = network.coarse.graph.op(op).memory_bytes;
  }
  EXPECT_EQ(outputs.size(), backend.of.size());
  EXPECT_EQ(backend.misaligned(64), 0u);
  for (const auto& [first, size_bytes] : outputs) {
    EXPECT_GE(first, end);
    end = first + size_bytes;
  }
}

TEST(CutStages, ReadTheRowsThatWereJustProduced) {
  std::size_t joined = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cut stages");
    const Model model = test::random_layers(10, random);
    const Network network = test::cut_network(model, test::random_cuts(model, random));
    const Schedule schedule = test::random_schedule(network.coarse.graph, 1, 2, seed);
    const auto transport = mpi::make_serial_transport();
    test::FakeSource source;
    for (const Stage& stage : schedule.devices.front()) {
      AddressesBackend backend(2);
      StageBatch batch({network.coarse, network.model, backend, *transport, source}, {&stage, 1},
                       1 << 12);
      double ms = 0;
      batch.sweep({&ms, 1});
      expect_apart(network, backend);
      for (const Group& group : stage.groups) {
        for (const OpId op : group) joined += expect_reads(network, op, backend);
      }
    }
  }
  EXPECT_GT(joined, 20u);
}

}  // namespace
}  // namespace hios
