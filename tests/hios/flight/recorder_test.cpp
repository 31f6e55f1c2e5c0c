#include "hios/flight/recorder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace hios::flight {
namespace {

Subject step(const std::string& text) { return {text, text, 1, 2, 64}; }

TEST(Recorder, KeepsTheLastEventsInOrder) {
  Recorder recorder;
  std::vector<Subject> subjects;
  for (int i = 0; i < 10; ++i) subjects.push_back(step("step_" + std::to_string(i)));
  const Recorder::Subjects steps(&recorder, subjects);
  for (std::uint64_t i = 0; i < 1000; ++i) recorder.note(EventKind::kSend, steps.at(i % 10), i);
  const Flight flight = recorder.read();
  ASSERT_EQ(flight.events.size(), kEvents);
  for (std::size_t i = 0; i < kEvents; ++i) {
    const Event& event = flight.events[i];
    EXPECT_EQ(event.kind, EventKind::kSend);
    EXPECT_EQ(event.iteration, 1000 - kEvents + i);
    EXPECT_EQ(event.text, "step_" + std::to_string(event.iteration % 10));
    EXPECT_EQ(event.peer, 1u);
    EXPECT_EQ(event.stage, 2u);
    EXPECT_EQ(event.bytes, 64u);
    EXPECT_GE(event.age_ms, i + 1 < kEvents ? flight.events[i + 1].age_ms : 0);
  }
}

TEST(Recorder, SeveralThreadsMayNote) {
  Recorder recorder;
  const std::vector<Subject> subjects = {step("a"), step("b"), step("c"), step("d")};
  const Recorder::Subjects steps(&recorder, subjects);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 5000; ++i) recorder.note(EventKind::kOperator, steps.at(t), t);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Flight flight = recorder.read();
  EXPECT_EQ(flight.events.size(), kEvents);
  for (const Event& event : flight.events)
    EXPECT_EQ(event.text, std::string(1, static_cast<char>('a' + event.iteration)));
}

TEST(Recorder, WordsOfAPlanThatIsGoneAreNotAnothers) {
  Recorder recorder;
  const std::vector<Subject> first = {step("first")}, second = {step("second")};
  {
    const Recorder::Subjects steps(&recorder, first);
    recorder.note(EventKind::kStage, steps.at(0));
  }
  const Recorder::Subjects steps(&recorder, second);
  recorder.note(EventKind::kStage, steps.at(0));
  const Flight flight = recorder.read();
  ASSERT_EQ(flight.events.size(), 2u);
  EXPECT_EQ(flight.events[0].text, "a step of an earlier plan");
  EXPECT_EQ(flight.events[1].text, "second");
}

TEST(Recorder, ManySubjectsAreNotedWithoutWords) {
  Recorder recorder;
  const std::vector<Subject> many(40'000, step("step"));
  const Recorder::Subjects steps(&recorder, many);
  recorder.note(EventKind::kStage, steps.at(0), 1);
  recorder.note(EventKind::kStage, steps.at(39'999), 2);
  const Flight flight = recorder.read();
  EXPECT_EQ(flight.events[0].text, "step");
  EXPECT_EQ(flight.events[1].text, "");
  const std::vector<Subject> long_names(40, step(std::string(100'000, 'x')));
  const Recorder::Subjects others(&recorder, long_names);
  recorder.note(EventKind::kStage, others.at(39), 3);
}

TEST(Recorder, SwitchedOffNothingIsNoted) {
  Recorder recorder;
  recorder.set_enabled(false);
  recorder.note(EventKind::kStage, Recorder::Subjects::kNone);
  EXPECT_TRUE(recorder.read().events.empty());
}

TEST(Recorder, PhasesKeepTheirNames) {
  Recorder recorder;
  for (int i = 0; i < 20; ++i) recorder.phase("phase " + std::to_string(i));
  const Flight flight = recorder.read();
  ASSERT_EQ(flight.events.size(), 20u);
  EXPECT_EQ(flight.events.back().text, "phase 19");
  EXPECT_EQ(flight.events[5].text, "phase 5");
  EXPECT_EQ(flight.events[3].text, "") << "its name was overwritten";
  EXPECT_EQ(flight.phase, "phase 19");
}

TEST(PeerRecord, ReadsAnotherProcessStoppedAndDead) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t other = fork();
  if (other == 0) {
    Recorder recorder;
    recorder.phase("busy");
    const int descriptor = recorder.descriptor();
    [[maybe_unused]] const auto size = ::write(ready[1], &descriptor, sizeof descriptor);
    while (true) pause();
  }
  int descriptor = -1;
  ASSERT_EQ(::read(ready[0], &descriptor, sizeof descriptor), ssize_t{sizeof descriptor});
  const auto record = PeerRecord::open(other, descriptor);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->failure(), "");
  EXPECT_EQ(record->read().phase, "busy");
  kill(other, SIGSTOP);
  waitpid(other, nullptr, WUNTRACED);
  EXPECT_EQ(record->failure(), "is stopped");
  kill(other, SIGKILL);
  waitpid(other, nullptr, 0);
  EXPECT_EQ(record->failure(), "has died");
  EXPECT_EQ(record->read().phase, "busy");
  EXPECT_EQ(PeerRecord::open(other, descriptor), nullptr);
  close(ready[0]);
  close(ready[1]);
}

TEST(PeerRecord, RefusesOtherBytes) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  EXPECT_EQ(PeerRecord::open(getpid(), pipe_ends[0]), nullptr);
  EXPECT_EQ(PeerRecord::open(getpid(), -1), nullptr);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace hios::flight
