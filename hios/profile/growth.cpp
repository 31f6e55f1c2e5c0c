#include "hios/profile/growth.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "hios/base/error.h"
#include "hios/profile/settling.h"

// A measuring program reads a profile, works for minutes or hours, and writes it back. It does not
// lock the file for so long, since others would wait or be refused. Instead it applies the
// difference between the content that it read and its result to the current content of the file.
// The difference is taken entry by entry, because every entry of a profile has its own key. Tests:
// tests/hios/profile/growth_test.cpp; with two real programs in
// tests/cli/programs/files/files_test.cpp.
namespace hios {
namespace {

Json member(const Json& object, const std::string& key) {
  return object.is_object() ? object.value(key, Json()) : Json();
}

/// Merges objects member by member; any other changed value is taken from `mine`.
Json merge_changes(const Json& before, const Json& mine, const Json& now) {
  if (mine == before) return now;
  if (!mine.is_object() || !now.is_object()) return mine;
  Json result = now;
  for (const auto& [key, value] : mine.items()) {
    if (value == member(before, key) && !now.contains(key)) continue;  // others removed it
    result[key] = merge_changes(member(before, key), value, member(now, key));
  }
  if (!before.is_object()) return result;
  for (const auto& [key, value] : before.items()) {
    if (!mine.contains(key)) result.erase(key);
  }
  return result;
}

template <class Map>
void merge_entries(const Map& before, const Map& mine, Map& now) {
  for (const auto& [key, measurement] : mine) {
    const auto known = before.find(key);
    if (known == before.end() || known->second != measurement)
      now.insert_or_assign(key, measurement);
  }
}

void merge_curves(const Configuration& before, const Configuration& mine, Configuration& now) {
  const auto curve_in = [](auto& curves, const TransferCurve& curve) {
    return std::find_if(curves.begin(), curves.end(), [&](const TransferCurve& each) {
      return each.from == curve.from && each.to == curve.to;
    });
  };
  for (const TransferCurve& curve : mine.transfers) {
    const auto known = curve_in(before.transfers, curve);
    if (known != before.transfers.end() && *known == curve) continue;
    const auto current = curve_in(now.transfers, curve);
    if (current == now.transfers.end()) {
      now.transfers.push_back(curve);
    } else {
      *current = curve;
    }
  }
}

/// Merges the marks of operators with too few sweeps: an operator's mark comes from the program
/// whose times are kept.
void merge_marks(const Configuration& before, const Configuration& mine, Configuration& now) {
  const std::set<std::string> of_mine = unfinished_operators(mine);
  std::vector<std::string> finished, unfinished;
  for (const auto& [signature, measurement] : mine.operators) {
    const auto known = before.operators.find(signature);
    if (known != before.operators.end() && known->second == measurement) continue;
    (of_mine.contains(signature) ? unfinished : finished).push_back(signature);
  }
  mark_operators(now, finished, true);
  if (is_incomplete(mine)) mark_operators(now, unfinished, false);
  if (is_incomplete(before) && !is_incomplete(mine)) mark_incomplete(now, false);
}

void merge_protocol(const Configuration& before, const Configuration& mine, Configuration& now) {
  const Json how =
      merge_changes(general_protocol(before), general_protocol(mine), general_protocol(now));
  if (!now.protocol->is_object()) now.protocol = Json::object();
  for (const auto& [key, value] : how.items()) now.protocol[key] = value;
  add_settling_since(before, mine, now);
  merge_marks(before, mine, now);
}

void require_same_machine(const std::string& file, const Configuration& mine,
                          const Configuration& now) {
  for (const char* what : {"processor", "transport"}) {
    const Json here = member(mine.machine, what), there = member(now.machine, what);
    if (here.is_null() || there.is_null() || here == there) continue;
    throw InputError(file + ": $.configurations: measured meanwhile on another " + what + " (" +
                     printable(there.dump()) + ", here " + printable(here.dump()) +
                     "): write to another file");
  }
}

void merge_changes(const Configuration& before, const Configuration& mine, Configuration& now) {
  now.machine = merge_changes(before.machine, mine.machine, now.machine);
  merge_protocol(before, mine, now);
  merge_entries(before.operators, mine.operators, now.operators);
  merge_entries(before.stages, mine.stages, now.stages);
  merge_curves(before, mine, now);
  if (mine.launch && mine.launch != before.launch) now.launch = mine.launch;
  merge_entries(before.warm, mine.warm, now.warm);
  if (mine.io_charge && mine.io_charge != before.io_charge) now.io_charge = mine.io_charge;
  merge_entries(before.loads, mine.loads, now.loads);
  merge_entries(before.in_place, mine.in_place, now.in_place);
  now.seconds += std::max(0.0, mine.seconds - before.seconds);
}

const Configuration* like(const Profile& profile, const Configuration& one) {
  const auto at = std::find_if(profile.configurations.begin(), profile.configurations.end(),
                               [&](const Configuration& each) {
                                 return each.backend == one.backend && each.key() == one.key();
                               });
  return at == profile.configurations.end() ? nullptr : &*at;
}

}  // namespace

void merge_changes(const Profile& before, const Profile& measured, Profile& now) {
  const Configuration nothing;
  for (const Configuration& mine : measured.configurations) {
    const Configuration* const was = like(before, mine);
    if (auto* const known = const_cast<Configuration*>(like(now, mine))) {
      require_same_machine(measured.file, mine, *known);
      merge_changes(was ? *was : nothing, mine, *known);
    } else {
      now.configurations.push_back(mine);
    }
  }
}

}  // namespace hios
