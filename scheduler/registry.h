#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// The schedulers of a program, in the order in which it lists them. A value, so that a program can
/// add schedulers of its own to the built-in ones:
///
///   Registry registry = built_in();
///   registry.add({.name = "mine", .description = "...", .options = {}, .run = schedule_mine});
class Registry {
 public:
  /// Adds an algorithm, which invalidates references into the registry. Throws InputError where its
  /// name is empty, has a comma or white space in it, is "all" or is taken, and where it has no
  /// function; std::logic_error where an option's default is out of the option's bounds.
  void add(Algorithm algorithm);

  /// Returns the algorithm of that name. Throws InputError, which lists the names, for another one.
  const Algorithm& find(std::string_view name) const;
  std::span<const Algorithm> all() const { return algorithms_; }
  std::vector<std::string> names() const;

 private:
  std::vector<Algorithm> algorithms_;
};

/// Returns the schedulers of this library. They are made once, by the first call; any thread may
/// call.
const Registry& built_in();

}  // namespace hios::scheduler
