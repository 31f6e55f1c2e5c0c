#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hios/profile/profile.h"

/// Settling: the stability of measured times when the measuring ended. A profile made on a machine
/// that did something else meanwhile leads to plans for that machine, not for a quiet one.
namespace hios {

/// The settling of one kind of entry (operators, stages), summed over all measured entries.
struct Settling {
  std::size_t sweeps = 0;
  std::size_t disturbed = 0;  ///< sweeps during which the machine did something else
  /// The largest relative difference between the fastest quarters of the first and of the second
  /// half of some sweeps; empty: there were too few.
  std::optional<double> difference = {};
  /// True if it had settled; empty: not known, for example with too few sweeps.
  std::optional<bool> settled = {};
};

/// Adds the settling of `what` to that in the configuration's protocol ("settling").
void add_settling(Configuration& configuration, std::string_view what, const Settling& settling);

/// Adds to `now` the settling of the measurements between `before` and `after`.
void add_settling_since(const Configuration& before, const Configuration& after,
                        Configuration& now);
/// Returns the protocol without the entries of this header: the method, not its outcome. An object.
Json general_protocol(const Configuration& configuration);

/// Returns the operators in the mark of a configuration whose measuring was stopped before its end.
/// The mark, "incomplete" in its protocol, lists the signatures of operators with fewer sweeps than
/// requested. Their measurements count until there are better ones.
std::set<std::string> unfinished_operators(const Configuration& configuration);
/// Returns true if it has the mark, even without operators.
bool is_incomplete(const Configuration& configuration);
/// Removes finished operators from the mark, or adds others, and makes the mark if needed.
void mark_operators(Configuration& configuration, const std::vector<std::string>& signatures,
                    bool finished);
/// Makes the mark if `stopped`, otherwise removes it; a mark with operators stays in any case.
void mark_incomplete(Configuration& configuration, bool stopped);

/// Returns the number of disturbed sweeps: "disturbed: 41 of 120 sweeps, 34.2 % (…)". Empty: none.
std::string disturbed_text(std::span<const Configuration* const> configurations);

/// Returns the entries that had not settled: "operators differ by up to 7.1 % between the first and
/// the second half of their 120 sweeps, 31 of which were disturbed"; also that measuring was
/// stopped. Empty: all had settled, or it is not known.
std::string unsettled_text(const Configuration& configuration);
/// Returns that of the configurations for a platform's devices, each once: "p.json, cpu with 2
/// threads among 3 ranks: operators differ by …".
std::string unsettled_text(const Profile& profile, const Platform& platform);

}  // namespace hios
