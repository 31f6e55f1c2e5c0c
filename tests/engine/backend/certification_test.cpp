// Shards whose bits are compared with those of their whole operators, and the algorithms that are
// chosen where they differ.
#include "engine/backend/certification.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/backends.h"
#include "engine/job/ranks/algorithm_agreement.h"
#include "engine/reference/backend.h"
#include "support/expect_error.h"
#include "support/networks/random_cuts.h"
#include "support/transports/thread_transport.h"

namespace hios {
namespace {

using test::cut_network;

/// A backend on the reference that is less exact for small images, unless it computes plainly.
class MethodicalBackend final : public Backend {
 public:
  /// `never`: part of a name; such operators are never exact.
  explicit MethodicalBackend(std::string never = "nothing") : never_(std::move(never)) {}
  static MethodicalBackend exact_in_blocks() {
    MethodicalBackend backend;
    backend.only_blocks_ = true;
    return backend;
  }
  std::size_t bound = 0;
  std::vector<std::int64_t> blocks;  ///< rows of the blocks that were asked for

  std::string_view name() const override { return "methodical"; }
  std::string_view kind() const override { return "cpu"; }
  int threads() const override { return 1; }
  Json describe() const override { return {{"library", "methods 2.1"}}; }
  std::optional<std::string> unsupported(const Operation&) const override { return {}; }
  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return judge_->allocate(size_bytes, what);
  }
  Json algorithms(const Operation& operation, Choosing how) override {
    const bool plain = how == Choosing::kLikeParts && !only_blocks_;
    if (plain || how == Choosing::kByTiming || how == Choosing::kByTimingInParts) {
      methods_[operation.signature] = plain ? "plain" : "fast";
    }
    return {{operation.signature, methods_.value(operation.signature, "plain")}};
  }
  Json in_blocks_of_rows(const Operation& operation, std::int64_t rows) override {
    blocks.push_back(rows);
    methods_[operation.signature] = only_blocks_ ? "plain" : "fast";
    return {{operation.signature, methods_[operation.signature]}};
  }
  void adopt(const Json& algorithms) override { methods_.update(algorithms); }
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override {
    ++bound;
    const std::int64_t height = operation.model->tensor(operation.layers->output).shape.h;
    const bool fast = methods_.value(operation.signature, "plain") == "fast";
    const bool never = operation.name.find(never_) != std::string::npos;
    return std::make_unique<Inexact>(judge_->bind(operation, inputs, output, share, source),
                                     fast || never ? height : 0, output);
  }
  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                 void (*poll)(void*), void* poll_argument) override {
    judge_->run_stage(groups, shares, poll, poll_argument);
  }

 private:
  class Inexact final : public BoundOperator {
   public:
    Inexact(std::unique_ptr<BoundOperator> exact, std::int64_t height, std::byte* output)
        : exact_(std::move(exact)), height_(height), output_(output) {}
    void run() override {
      exact_->run();
      *output_ ^= static_cast<std::byte>(height_);
    }

   private:
    std::unique_ptr<BoundOperator> exact_;
    std::int64_t height_;
    std::byte* output_;
  };

  std::string never_;
  bool only_blocks_ = false;
  Json methods_ = Json::object();
  std::unique_ptr<Backend> judge_ = reference::make_backend({});
};

/// Two equal convolutions and a pool.
Model two_convolutions() {
  ModelBuilder net("net", {1, 16, 12, 9});
  const TensorId first = net.conv("first", net.input(), {16, {3, 3}, {1, 1}, {1, 1}});
  const TensorId second = net.conv("second", first, {16, {3, 3}, {1, 1}, {1, 1}});
  net.pool("pool", second, {Pool::Kind::kMax, {2, 2}, {2, 2}, {0, 0}});
  net.keep_layer_names();
  return std::move(net).build();
}

job::AgreedAlgorithms timed(Backend& backend, const Network& network) {
  job::AgreedAlgorithms agreed;
  test::run_ranks(1, [&](mpi::Transport& transport) {
    agreed = job::agree_on_algorithms(transport, backend, network.coarse, network.model, {},
                                      Choosing::kByTiming);
  });
  return agreed;
}

TEST(Certification, KnowsTheWholeOfEachShard) {
  const Network network =
      cut_network(two_convolutions(), {{"second", {4, 9}, 1}, {"first", {5}, 0, Axis::kC}});
  const std::vector<CutOperator> cut = cut_operators(network.coarse, network.model);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].name, "first");
  EXPECT_EQ(cut[1].name, "second");
  ASSERT_EQ(cut[1].shards.size(), 3u);
  EXPECT_EQ(cut[1].shards[1].range, (AxisRange{Axis::kH, 3, 10}));
  EXPECT_EQ(cut[1].shards[1].inputs, (std::vector{AxisRange{Axis::kH, 2, 11}}));
  EXPECT_EQ(cut[0].shards[0].inputs, (std::vector{AxisRange{Axis::kC, 0, 16}}));
  EXPECT_TRUE(cut_operators(Network(two_convolutions()).coarse, two_convolutions()).empty());
}

TEST(Certification, EqualOperatorsAreComputedOnce) {
  const Network network = cut_network(two_convolutions(), {{"first", {4}}, {"second", {4}}});
  MethodicalBackend backend;
  EXPECT_EQ(uncertified(backend, network.coarse, network.model), std::vector<std::string>{});
  EXPECT_EQ(backend.bound, 3u);
}

TEST(Certification, TakesAnotherAlgorithmWhereTheFastestHasOtherBits) {
  const Network network = cut_network(two_convolutions(), {{"first", {4}}});
  MethodicalBackend backend;
  const job::AgreedAlgorithms agreed = timed(backend, network);
  EXPECT_EQ(agreed.uncertified, std::vector<std::string>{});
  EXPECT_NO_THROW(require_certified(agreed, backend));
  for (const Operator& op : network.coarse.graph.operators()) {
    // The second convolution is the first one's equal, and computes like it.
    EXPECT_EQ((*agreed.algorithms).at(op.signature), op.name == "pool" ? "fast" : "plain");
  }
  EXPECT_EQ(uncertified(backend, network.coarse, network.model), std::vector<std::string>{});
}

TEST(Certification, TakesBlocksOfRowsWhereNoAlgorithmOfWholeImagesHelps) {
  for (const auto& [at, rows] : std::map<std::vector<std::int64_t>, std::vector<std::int64_t>>{
           {{6}, {6}}, {{4, 8}, {4}}, {{6, 9}, {3}}, {{5, 9}, {}}, {{2}, {}}}) {
    const Network network = cut_network(two_convolutions(), {{"first", at}});
    MethodicalBackend backend = MethodicalBackend::exact_in_blocks();
    const job::AgreedAlgorithms agreed = timed(backend, network);
    EXPECT_EQ(backend.blocks, rows);
    EXPECT_EQ(agreed.uncertified.empty(), !rows.empty());
  }
  const Network network = cut_network(two_convolutions(), {{"first", {8}, 0, Axis::kC}});
  MethodicalBackend backend = MethodicalBackend::exact_in_blocks();
  (void)timed(backend, network);
  EXPECT_EQ(backend.blocks, std::vector<std::int64_t>{});
}

TEST(Certification, AnOperatorWithOtherBitsByAllAlgorithmsIsNotCut) {
  const Network network = cut_network(two_convolutions(), {{"first", {4}}, {"pool", {2}}});
  MethodicalBackend backend("pool");
  const job::AgreedAlgorithms agreed = timed(backend, network);
  EXPECT_EQ(agreed.uncertified, std::vector<std::string>{"pool"});
  test::expect_error<InputError>(
      [&] { require_certified(agreed, backend); },
      {"operator \"pool\" cannot be cut here: its shards would give other bits on backend "
       "methodical (methods 2.1); leave it out of the cuts"});
}

TEST(Certification, AnOperatorThatEqualsACutOneComputesAsItDoes) {
  for (const auto& entry : backends()) {
    if (entry.name != "cpu" || entry.make == nullptr) continue;
    const Network network = cut_network(two_convolutions(), {{"second", {4}}});
    const Network whole(two_convolutions());
    const std::string signature = whole.coarse.graph.op(OpId(0)).signature;
    BackendOptions options;
    options.algorithms = Json{{signature, "winograd 8"}};
    const auto backend = entry.make(options);
    const job::AgreedAlgorithms agreed = timed(*backend, network);
    for (const Operator& op : network.coarse.graph.operators()) {
      if (op.name == "pool") continue;
      EXPECT_EQ((*agreed.algorithms).at(op.signature), (*agreed.algorithms).at(signature))
          << op.name;
    }
  }
}

// Winograd's method in blocks gives a shard the whole's bits from each fourth row only.
TEST(Certification, OnTheCpuShardsHaveTheBitsOfTheWhole) {
  for (const auto& entry : backends()) {
    if (entry.name != "cpu" || entry.make == nullptr) continue;
    for (const std::int64_t row : {4, 5}) {
      const Network network = cut_network(two_convolutions(), {{"first", {row}}});
      const Network whole(two_convolutions());
      BackendOptions options;
      options.algorithms = Json{{whole.coarse.graph.op(OpId(0)).signature, "winograd 4"}};
      const auto backend = entry.make(options);
      const job::AgreedAlgorithms agreed = timed(*backend, network);
      EXPECT_EQ(agreed.uncertified, std::vector<std::string>{});
      EXPECT_EQ(uncertified(*backend, network.coarse, network.model), std::vector<std::string>{});
    }
  }
}

// oneDNN 2.6 sums 288 channels in another order for 8 of 17 rows, and dilated and narrow
// convolutions by other algorithms where images are small.
TEST(Certification, OnTheCpuBlocksOfRowsHaveTheBitsOfTheWhole) {
  const std::vector<std::pair<Conv, Shape>> cases = {
      {{384, {3, 3}, {2, 2}, {0, 0}}, {1, 288, 35, 35}},
      {{8, {3, 3}, {1, 1}, {1, 1}}, {1, 24, 17, 19}},
      {{16, {3, 3}, {1, 1}, {2, 2}, 1, true, {2, 2}}, {1, 16, 17, 17}}};
  for (const auto& entry : backends()) {
    if (entry.name != "cpu" || entry.make == nullptr) continue;
    for (const auto& [conv, input] : cases) {
      ModelBuilder net("net", input);
      net.relu("relu", net.conv("conv", net.input(), conv));
      net.keep_layer_names();
      const Network network = cut_network(std::move(net).build(), {{"conv", {9}}});
      const auto backend = entry.make({});
      EXPECT_EQ(timed(*backend, network).uncertified, std::vector<std::string>{});
      EXPECT_EQ(uncertified(*backend, network.coarse, network.model), std::vector<std::string>{});
    }
  }
}

}  // namespace
}  // namespace hios
