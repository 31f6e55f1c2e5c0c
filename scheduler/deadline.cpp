#include "scheduler/deadline.h"

#include <algorithm>
#include <utility>

namespace hios::scheduler {

Deadline::Deadline(StopRequest stop)
    : source_(std::make_shared<const Source>(Source{std::move(stop), {}})) {}

Deadline::Deadline(StopRequest stop, Clock clock, double seconds)
    : source_(std::make_shared<const Source>(Source{std::move(stop), std::move(clock)})),
      start_s_(source_->clock()),
      end_s_(start_s_ + seconds) {}

double Deadline::seconds_left() const {
  if (stop_requested()) return 0;
  return has_time_limit() ? std::max(0.0, end_s_ - source_->clock()) : end_s_;
}

Deadline Deadline::half() const {
  Deadline half = *this;
  half.end_s_ = start_s_ + (end_s_ - start_s_) / 2;
  return half;
}

Deadline Deadline::within(double seconds) const {
  Deadline part = from_now(seconds);
  part.end_s_ = std::min(part.end_s_, end_s_);
  return part;
}

Deadline Deadline::from_now(double seconds) const {
  if (source_ == nullptr || !source_->clock) return *this;
  Deadline other = *this;
  other.start_s_ = source_->clock();
  other.end_s_ = other.start_s_ + std::max(0.0, seconds);
  return other;
}

bool Deadline::source_has_expired() const {
  return stop_requested() || (has_time_limit() && source_->clock() >= end_s_);
}

}  // namespace hios::scheduler
