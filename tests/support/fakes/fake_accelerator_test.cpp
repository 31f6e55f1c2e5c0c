#include "support/fakes/fake_accelerator.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <stdexcept>
#include <vector>

#include "support/expect_error.h"

namespace hios::test {
namespace {

using mpi::Queue;
using Pace = FakeOptions::Pace;

FakeOptions with_pace(Pace pace) {
  FakeOptions options;
  options.pace = pace;
  return options;
}

TEST(FakeAccelerator, ALazyOneRunsOnlyRequestedWork) {
  FakeAccelerator device(with_pace(Pace::kLazy));
  int ran = 0;
  const auto event = device.make_event(false);
  device.enqueue(Queue::kWork, [&] { ++ran; });
  device.record(*event, Queue::kWork);
  device.enqueue(Queue::kWork, [&] { ran += 10; });
  device.enqueue(Queue::kOut, [&] { ran += 100; });
  EXPECT_EQ(ran, 0);
  while (!event->done()) {
  }
  EXPECT_EQ(ran, 1);
  device.synchronize();
  EXPECT_EQ(ran, 111);
}

TEST(FakeAccelerator, AnEagerOneHasRunAllThatItMay) {
  FakeAccelerator device(with_pace(Pace::kEager));
  int ran = 0;
  device.enqueue(Queue::kWork, [&] { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(FakeAccelerator, KeepsTheOrderOfEventsAtEveryPace) {
  for (const Pace pace : {Pace::kLazy, Pace::kRandom, Pace::kEager}) {
    FakeAccelerator device(with_pace(pace));
    std::string order;
    const auto first = device.make_event(false), second = device.make_event(false);
    const Queue in = device.in_queue(Rank(1));
    EXPECT_TRUE(first->done()) << "never recorded";
    device.enqueue(Queue::kOut, [&] { order += 'a'; });
    device.record(*first, Queue::kOut);
    device.wait(*first, in);
    device.enqueue(in, [&] { order += 'b'; });
    device.record(*second, in);
    device.wait(*second, Queue::kWork);
    device.enqueue(Queue::kWork, [&] { order += 'c'; });
    device.synchronize();
    EXPECT_EQ(order, "abc");
  }
}

TEST(FakeAccelerator, TwoShareMemoryAndEvents) {
  const auto machine = make_fake_machine();
  FakeAccelerator producer(machine, with_pace(Pace::kLazy)),
      consumer(machine, with_pace(Pace::kLazy));
  const auto theirs = producer.make_memory(8, "a tensor"),
             mine = consumer.make_memory(8, "a tensor");
  const auto produced = producer.make_event(true);
  producer.enqueue(Queue::kWork, [&] { theirs->data()[4] = std::byte{7}; });
  producer.record(*produced, Queue::kWork);

  const Queue in = consumer.in_queue(Rank(0));
  EXPECT_THROW(consumer.copy(mine->data(), theirs->data(), 8, in), RunError) << "unmapped";
  const auto mapped = consumer.import_memory(producer.export_memory(theirs->data() + 4));
  const auto event = consumer.import_event(producer.export_event(*produced));
  consumer.wait(*event, in);
  consumer.copy(mine->data(), mapped->data(), 1, in);
  consumer.synchronize();  // runs the producer's part, too
  std::byte seen{};
  consumer.read(&seen, mine->data(), 1);
  EXPECT_EQ(seen, std::byte{7});
}

TEST(FakeAccelerator, RefusesTheHostWhileWorkIsQueued) {
  FakeAccelerator device(with_pace(Pace::kLazy));
  const auto memory = device.make_memory(4, "a tensor");
  EXPECT_TRUE(FakeAccelerator::owns(memory->data()));
  EXPECT_TRUE(FakeAccelerator::owns(memory->data() + 3));
  EXPECT_FALSE(FakeAccelerator::owns(memory->data() + 4)) << "another allocation may begin there";
  std::array<std::byte, 4> host{};
  EXPECT_FALSE(FakeAccelerator::owns(host.data()));
  device.write(memory->data(), host.data(), 4);
  device.enqueue(Queue::kWork, [] {});
  EXPECT_THROW(device.read(host.data(), memory->data(), 4), std::logic_error);
  EXPECT_THROW(device.copy(memory->data(), host.data(), 4, Queue::kOut), RunError) << "not pinned";
}

TEST(FakeAccelerator, CapturesWhatForksFromTheWorkQueueAndJoinsIt) {
  FakeAccelerator device(with_pace(Pace::kLazy));
  const auto memory = device.make_memory(8, "a tensor");
  const auto forked = device.make_event(false), loaded = device.make_event(false);
  const Queue load = device.load_queue(0);
  std::vector<std::function<void()>> calls;
  const auto begin = [&] {
    calls.clear();
    device.begin_capture([&](std::function<void()> call) { calls.push_back(std::move(call)); });
  };
  const auto fork = [&] {
    device.record(*forked, Queue::kWork);
    device.wait(*forked, load);
  };
  begin();
  fork();
  device.fill(memory->data(), std::byte{7}, 8, load);
  device.record(*loaded, load);
  device.wait(*loaded, Queue::kWork);
  device.end_capture();
  EXPECT_THROW(loaded->done(), mpi::DeviceError);
  EXPECT_THROW(device.wait(*loaded, Queue::kOut), mpi::DeviceError) << "of a recording";
  std::byte seen{};
  device.read(&seen, memory->data(), 1);
  EXPECT_NE(seen, std::byte{7}) << "it ran";
  for (const auto& call : calls) call();
  device.synchronize();
  device.read(&seen, memory->data() + 7, 1);
  EXPECT_EQ(seen, std::byte{7});

  begin();
  EXPECT_THROW(device.fill(memory->data(), std::byte{7}, 8, load), mpi::DeviceError) << "no fork";
  EXPECT_THROW(device.wait(*loaded, load), mpi::DeviceError) << "of an earlier recording";
  fork();
  device.fill(memory->data(), std::byte{7}, 8, load);
  EXPECT_THROW(device.end_capture(), mpi::DeviceError) << "no join";
}

TEST(FakeAccelerator, FailsAsConfigured) {
  FakeOptions options = with_pace(Pace::kLazy);
  options.failing = 1;
  options.memory_bytes = 100;
  FakeAccelerator device(options);
  expect_error<RunError>([&] { device.make_memory(101, "a large one"); },
                         {"101 bytes for a large one", "100 are free"});
  int ran = 0;
  for (int i = 0; i < 3; ++i) device.enqueue(Queue::kWork, [&] { ++ran; });
  expect_error<RunError>([&] { device.synchronize(); }, {"operation 1 failed"});
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace hios::test
