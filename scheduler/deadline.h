#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>

namespace hios::scheduler {

/// Operators that a list scheduler places between two looks at the clock.
inline constexpr std::size_t kOperatorsPerCheck = 64;
/// Operators whose costs or positions a random search computes between two looks at the clock.
inline constexpr std::int64_t kWorkPerCheck = 100'000;

/// The end of a search: a stop request, a moment on a clock, or whichever comes first. The default
/// one never expires.
///
/// The library owns no clock: the code that makes a deadline gives the functions. They must be
/// cheap and safe to call from several threads at a time. Copies and the deadlines derived from one
/// share them, and so must not outlive what they refer to.
class Deadline {
 public:
  using StopRequest = std::function<bool()>;
  using Clock = std::function<double()>;  ///< seconds since any fixed moment

  Deadline() = default;
  /// Expires once `stop` returns true.
  explicit Deadline(StopRequest stop);
  /// Expires once `stop` (may be empty) returns true, or `seconds` from now.
  Deadline(StopRequest stop, Clock clock, double seconds);

  /// Returns false for one that never expires.
  bool can_expire() const { return source_ != nullptr; }
  bool has_time_limit() const { return end_s_ < std::numeric_limits<double>::infinity(); }

  bool expired() const { return source_ != nullptr && source_has_expired(); }
  /// Returns expired() in one of `every` steps and false in the others: a loop of short steps pays
  /// for a counter, not for the functions.
  template <std::integral Step>
  bool expired_at(Step step, std::type_identity_t<Step> every) const {
    return source_ != nullptr && step % every == 0 && source_has_expired();
  }
  /// Returns the seconds until it expires: 0 where it has, infinity without a time limit.
  double seconds_left() const;
  /// Returns true if the stop request does, whatever the time.
  bool stop_requested() const { return source_ != nullptr && source_->stop && source_->stop(); }
  /// Returns the seconds on its clock, for differences; 0 where it has none.
  double now_s() const { return source_ != nullptr && source_->clock ? source_->clock() : 0; }

  /// Returns the deadline halfway between this one's begin and end, for a search that prepares
  /// first. Without a time limit, it is the same one.
  Deadline half() const;
  /// Returns the deadline `seconds` from now, or this one where that is earlier or has no clock.
  Deadline within(double seconds) const;
  /// Returns the deadline that leaves a search this fraction of seconds_left().
  Deadline share(double fraction) const { return within(fraction * seconds_left()); }
  /// Returns the deadline `seconds` from now, though this one be earlier; or this one where it has
  /// no clock.
  Deadline from_now(double seconds) const;

 private:
  struct Source {
    StopRequest stop;  // may be empty
    Clock clock;       // empty where there is a stop request alone
  };

  bool source_has_expired() const;

  std::shared_ptr<const Source> source_;
  double start_s_ = 0, end_s_ = std::numeric_limits<double>::infinity();  // on the clock
};

}  // namespace hios::scheduler
