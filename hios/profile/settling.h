#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hios/profile/profile.h"

/// Whether measured times had settled when the measuring ended: a profile made on a machine that
/// did something else meanwhile leads to plans for that machine, not for the quiet one.
namespace hios {

/// How it went for one kind of thing (operators, stages), summed over all that were measured.
struct Settling {
  std::size_t sweeps = 0;
  std::size_t disturbed = 0;  ///< sweeps during which the machine did something else
  /// The largest relative difference between the fastest quarters of the first and of the second
  /// half of some sweeps; empty: there were too few to say.
  std::optional<double> difference = {};
  /// Whether it had settled; empty: not known, as where there were too few to say.
  std::optional<bool> settled = {};
};

/// Keeps it in the configuration's protocol ("settling"), added to what is there of `what`.
void add_settling(Configuration& configuration, std::string_view what, const Settling& settling);

/// Adds to `now` what measuring has told of settling between `before` and `after`.
void add_settling_since(const Configuration& before, const Configuration& after,
                        Configuration& now);
/// The protocol without what stands here: how was measured, not how it went. An object.
Json general_protocol(const Configuration& configuration);

/// The mark of a configuration whose measuring was stopped before its end: "incomplete" in its
/// protocol lists the operators that were measured by fewer sweeps than asked for, by signature.
/// Their measurements count until there are better ones.
std::set<std::string> unfinished_operators(const Configuration& configuration);
/// Whether it has the mark, be it that no operator stands in it.
bool is_incomplete(const Configuration& configuration);
/// Adds the operators to the mark (which is made where it is not there), or takes them away.
void mark_operators(Configuration& configuration, const std::vector<std::string>& signatures,
                    bool finished);
/// Leaves the mark, `stopped` or not, where operators are in it; else makes it or takes it away.
void mark_incomplete(Configuration& configuration, bool stopped);

/// How many sweeps of the configurations were disturbed: "disturbed: 41 of 120 sweeps, 34.2 % (…)".
/// Empty: none.
std::string disturbed_text(std::span<const Configuration* const> configurations);

/// What of the configuration had not settled: "operators differ by up to 7.1 % between the first
/// and the second half of their 120 sweeps, 31 of which were disturbed"; also that measuring was
/// stopped. Empty: all had, or it is not known.
std::string unsettled_text(const Configuration& configuration);
/// The same of the configurations that answer for a platform's devices, each once: "p.json, cpu
/// with 2 threads among 3 ranks: operators differ by …".
std::string unsettled_text(const Profile& profile, const Platform& platform);

}  // namespace hios
