#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "scheduler/scheduler.h"

namespace hios::scheduler {

/// The schedulers that a program offers, in the order in which it lists them: a value, so that a
/// program with schedulers of its own has them beside the built-in ones:
///
///   Registry registry = built_in();
///   registry.add({.name = "mine", .description = "...", .options = {}, .run = schedule_mine});
class Registry {
 public:
  /// Throws InputError where the name is empty, has a comma or white space in it, is "all", or is
  /// there already, and where there is no function; std::logic_error where an option's default is
  /// out of its own bounds. Ends references into the registry.
  void add(Algorithm algorithm);

  /// Throws InputError that lists the names.
  const Algorithm& find(std::string_view name) const;
  std::span<const Algorithm> all() const { return algorithms_; }

 private:
  std::vector<Algorithm> algorithms_;
};

/// The schedulers of this library. Made once, when first asked for; any thread may ask.
const Registry& built_in();

}  // namespace hios::scheduler
