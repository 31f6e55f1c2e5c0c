// Order on the device, recordings and clocks.
#include <gtest/gtest.h>

#include "engine/cuda/backend.h"
#include "engine/job/verification.h"
#include "support/expect_error.h"
#include "support/layers/operations.h"

namespace hios {
namespace {

/// A sum of two tensors of ones, bound `times` times in a row, each to the output of the previous
/// one: powers of two.
class Doubling {
 public:
  Doubling(Backend& backend, std::size_t times, StreamIndex stream)
      : backend_(backend), case_(test::make_operation("twice", {1, 64, 64, 64}, {64, 64}, twice)) {
    const Bytes size_bytes = case_.output_shape().size_bytes(element_bytes(Precision::kFp32));
    for (std::size_t i = 0; i <= times; ++i) {
      buffers_.push_back(backend.allocate(size_bytes, "a test"));
    }
    CoreShare share = core_shares(1, 1).front();
    share.stream = stream;
    share_ = share;
    for (std::size_t i = 0; i < times; ++i) {
      const std::vector<const std::byte*> inputs(2, buffers_[i]->data());
      operators_.push_back(
          backend.bind(case_.operation(), inputs, buffers_[i + 1]->data(), share, source_));
      group_.push_back(operators_.back().get());
    }
  }
  const BoundGroup& group() const { return group_; }
  const CoreShare& share() const { return share_; }
  void start_with(float value) {
    const std::vector<float> values(elements(), value);
    backend_.write(buffers_.front()->data(), values.data(), values.size() * sizeof(float));
  }
  std::vector<float> end() {
    std::vector<float> values(elements());
    backend_.read(values.data(), buffers_.back()->data(), values.size() * sizeof(float));
    return values;
  }
  std::vector<float> all(float value) const { return std::vector<float>(elements(), value); }

 private:
  static void twice(ModelBuilder& b, std::span<const TensorId> x) { b.sum("sum", {x[0], x[1]}); }
  std::size_t elements() const { return static_cast<std::size_t>(case_.output_shape().elements()); }

  Backend& backend_;
  test::OperationCase case_;
  SeededSource source_{1};
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<BoundOperator>> operators_;
  BoundGroup group_;
  CoreShare share_;
};

TEST(Recording, ReplaysWhatWasQueuedAndRunsNothingBefore) {
  const auto backend = cuda::make_backend({});
  Doubling doubling(*backend, 10, StreamIndex(0));
  doubling.start_with(1);
  const auto recording = backend->record([&] {
    backend->run_stage({&doubling.group(), 1}, {&doubling.share(), 1}, nullptr, nullptr);
  });
  ASSERT_NE(recording, nullptr);
  for (const float start : {1.0f, 3.0f}) {
    doubling.start_with(start);
    recording->replay();
    backend->synchronize();
    EXPECT_EQ(doubling.end(), doubling.all(1024 * start));
  }
}

TEST(Recording, IsNoneWithoutGraphsAndThenNothingIsQueued) {
  BackendOptions options;
  options.graphs = false;
  const auto backend = cuda::make_backend(options);
  bool called = false;
  EXPECT_EQ(backend->record([&] { called = true; }), nullptr);
  EXPECT_FALSE(called);
}

TEST(Recording, ThatFailsLeavesTheStreamUsable) {
  const auto backend = cuda::make_backend({});
  Doubling doubling(*backend, 1, StreamIndex(0));
  test::expect_error<RunError>([&] { backend->record([&] { throw RunError("no more"); }); },
                               {"no more"});
  doubling.start_with(2);
  backend->run_stage({&doubling.group(), 1}, {&doubling.share(), 1}, nullptr, nullptr);
  backend->synchronize();
  EXPECT_EQ(doubling.end(), doubling.all(4));
}

TEST(Stages, ForkTheirGroupsAndJoinThem) {
  const auto backend = cuda::make_backend({});
  Doubling first(*backend, 12, StreamIndex(0)), second(*backend, 12, StreamIndex(1)),
      third(*backend, 3, StreamIndex(2));
  const std::vector<BoundGroup> groups{first.group(), second.group(), third.group()};
  const std::vector<CoreShare> shares{first.share(), second.share(), third.share()};
  for (const bool recorded : {false, true}) {
    const auto queue = [&] { backend->run_stage(groups, shares, nullptr, nullptr); };
    const auto recording = recorded ? backend->record(queue) : nullptr;
    first.start_with(1);
    second.start_with(2);
    third.start_with(3);
    recorded ? recording->replay() : queue();
    backend->synchronize();  // waits for the work queue, which the groups join
    EXPECT_EQ(first.end(), first.all(4096));
    EXPECT_EQ(second.end(), second.all(8192));
    EXPECT_EQ(third.end(), third.all(24));
  }
}

TEST(Marks, RunForwardInsideRecordingsAndOutside) {
  const auto backend = cuda::make_backend({});
  Doubling doubling(*backend, 10, StreamIndex(0));
  const auto marks = backend->make_marks(2);
  const auto queue = [&] {
    marks->mark(0);
    backend->run_stage({&doubling.group(), 1}, {&doubling.share(), 1}, nullptr, nullptr);
    marks->mark(1);
  };
  queue();
  backend->synchronize();
  EXPECT_GT(marks->ms(0, 1), 0);
  const auto recording = backend->record(queue);
  for (int i = 0; i < 3; ++i) {
    recording->replay();
    backend->synchronize();
    EXPECT_GT(marks->ms(0, 1), 0);
  }
}

TEST(CacheFlush, ReadsAnyRangeOfItsBuffer) {
  const auto backend = cuda::make_backend({});
  const auto stretch = backend->allocate(Bytes{1} << 20, "a test");
  const std::vector<float> zeros(1 << 18, 0.0f);
  backend->write(stretch->data(), zeros.data(), stretch->size_bytes());
  const auto cache_flush = backend->bind_cache_flush({stretch->data(), stretch->size_bytes()},
                                                     core_shares(1, 1).front());
  for (const Bytes size : {Bytes{0}, Bytes{4}, Bytes{1000}, Bytes{1} << 20, Bytes{1} << 30}) {
    cache_flush->set_size(size);
    cache_flush->run();
    EXPECT_NO_THROW(backend->synchronize()) << size;
  }
}

}  // namespace
}  // namespace hios
