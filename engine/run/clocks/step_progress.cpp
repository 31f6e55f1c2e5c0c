#include "engine/run/clocks/step_progress.h"

#include <utility>
#include <variant>

#include "engine/run/plan/step_text.h"

namespace hios {
namespace {

flight::EventKind event_of(const Step& step) {
  if (std::holds_alternative<AwaitReceive>(step)) return flight::EventKind::kAwaitReceive;
  if (std::holds_alternative<AwaitSend>(step)) return flight::EventKind::kAwaitSend;
  if (std::holds_alternative<Evict>(step)) return flight::EventKind::kAwaitSend;
  if (std::holds_alternative<AwaitOtherLoads>(step)) return flight::EventKind::kAwaitLoad;
  if (std::holds_alternative<AwaitLoad>(step)) return flight::EventKind::kAwaitLoad;
  if (std::holds_alternative<StartSend>(step)) return flight::EventKind::kSend;
  return flight::EventKind::kStage;
}

flight::Subject subject_of(const Step& step, const RankPlan& plan, const Graph& graph) {
  flight::Subject subject{describe(step, plan, graph)};
  if (const PlannedMessage* const message = message_of(step, plan)) {
    subject.op = graph.op(message->op).name;
    subject.peer = message->peer.index();
    const auto* const receive = std::get_if<AwaitReceive>(&step);
    subject.stage = receive ? receive->stage : message->stage;
    subject.bytes = message->size_bytes();
  } else if (const auto* const wait = std::get_if<AwaitLoad>(&step)) {
    const PlannedLoad& load = plan.lanes[wait->lane][wait->load];
    subject.op = graph.op(load.readers.front()).name;
    subject.stage = wait->stage;
    subject.bytes = load.size_bytes;
  } else if (const auto* const all = std::get_if<AwaitOtherLoads>(&step)) {
    subject.stage = all->stage;
  } else if (const auto* const evict = std::get_if<Evict>(&step)) {
    const PlannedEviction& eviction = plan.evictions[evict->eviction];
    subject.op = graph.op(eviction.readers.front()).name;
    subject.stage = eviction.stage;
    subject.bytes = eviction.size_bytes;
  } else {
    subject.stage = stage_of(step);
  }
  return subject;
}

/// An operator that notes two events a run, which take some 0.1 µs.
class NotedOperator final : public BoundOperator {
 public:
  NotedOperator(std::unique_ptr<BoundOperator> inner, flight::Recorder& recorder,
                std::uint32_t subject, const std::uint64_t& iteration)
      : inner_(std::move(inner)), recorder_(recorder), subject_(subject), iteration_(iteration) {}

  void run() override {
    recorder_.note(flight::EventKind::kOperator, subject_, iteration_);
    inner_->run();
    recorder_.note(flight::EventKind::kOperatorEnd, subject_, iteration_);
  }

 private:
  std::unique_ptr<BoundOperator> inner_;
  flight::Recorder& recorder_;
  std::uint32_t subject_;
  const std::uint64_t& iteration_;
};

}  // namespace

StepProgress::StepProgress(const RankPlan& plan, const Graph& graph, flight::Recorder* recorder)
    : graph_(graph), steps_(plan.steps.size()), recorder_(recorder) {
  for (const Step& step : plan.steps) events_.push_back(event_of(step));
  if (!recorder_) return;
  std::vector<flight::Subject> subjects;
  for (const Step& step : plan.steps) subjects.push_back(subject_of(step, plan, graph));
  subjects.push_back({kEndOfMessages});
  subjects.push_back({kLoadsAlone});
  subjects.push_back({kEndOnDevice});
  subjects_ = flight::Recorder::Subjects(recorder_, subjects);
}

void StepProgress::leave() {
  iterations_begin_ += positions();
  position_ = kBetween;
  progress_.store(iterations_begin_, std::memory_order_relaxed);
}

void StepProgress::end_iteration() {
  leave();
  if (recorder_)
    recorder_->note(flight::EventKind::kIterationEnd, flight::Recorder::Subjects::kNone,
                    iteration_);
  number_iterations(iteration_ + step_, step_);
}

void StepProgress::number_iterations(std::uint64_t first, std::uint64_t step) {
  iteration_ = first;
  step_ = step;
  shown_iteration_.store(first, std::memory_order_relaxed);
}

std::unique_ptr<BoundOperator> StepProgress::noted(std::unique_ptr<BoundOperator> bound, OpId op,
                                                   std::size_t stage) {
  if (!recorder_ || !recorder_->enabled()) return bound;
  const flight::Subject subject{"", graph_.op(op).name, {}, stage};
  operators_.emplace_back(recorder_, std::span(&subject, 1));
  return std::make_unique<NotedOperator>(std::move(bound), *recorder_, operators_.back().at(0),
                                         iteration_);
}

}  // namespace hios
