#include "support/networks/mutations.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace hios::test {
namespace {

/// The position of an operator.
struct Position {
  std::size_t device = 0, stage = 0, group = 0, index = 0;
};

constexpr std::array kAll = {
    Mutation::kSwapOperators, Mutation::kSwapStages, Mutation::kTurnGroup, Mutation::kMoveToStage,
    Mutation::kMoveToDevice,  Mutation::kCutStage,   Mutation::kCutGroup,  Mutation::kJoinStages,
    Mutation::kJoinGroups,    Mutation::kDrop,       Mutation::kDuplicate, Mutation::kDropStage,
    Mutation::kDuplicateStage};
constexpr std::size_t kRearranging = 9;

/// The schedule that is mutated, and the random numbers.
class Mutator {
 public:
  Mutator(Schedule& schedule, Random& random) : schedule_(schedule), random_(random) {
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      for (std::size_t s = 0; s < schedule.devices[d].size(); ++s) {
        stages_.push_back({d, s});
        list_groups(d, s);
      }
    }
  }

  void apply(Mutation mutation) {
    if (positions_.empty()) return;
    switch (mutation) {
      case Mutation::kSwapOperators:
        return std::swap(at(pick(positions_)), at(pick(positions_)));
      case Mutation::kSwapStages:
        return std::swap(stage(pick(stages_)), stage(pick(stages_)));
      case Mutation::kTurnGroup:
        std::ranges::reverse(group(pick(positions_)));
        return;
      case Mutation::kMoveToStage:
      case Mutation::kMoveToDevice:
        return move(mutation == Mutation::kMoveToDevice);
      case Mutation::kCutStage:
        return cut_stage(pick(stages_));
      case Mutation::kCutGroup:
        return cut_group(pick(positions_));
      case Mutation::kJoinStages:
        return join_stages(pick(stages_));
      case Mutation::kJoinGroups:
        return join_groups(pick(positions_));
      case Mutation::kDrop:
        take(pick(positions_));
        return;
      case Mutation::kDuplicate:
        return put(at(pick(positions_)), random_.below(schedule_.devices.size()));
      case Mutation::kDropStage: {
        const Position position = pick(stages_);
        auto& device = schedule_.devices[position.device];
        device.erase(device.begin() + static_cast<std::ptrdiff_t>(position.stage));
        return;
      }
      case Mutation::kDuplicateStage: {
        auto& device = schedule_.devices[random_.below(schedule_.devices.size())];
        insert(device, Stage(stage(pick(stages_))));
        return;
      }
    }
  }

  /// Another program may leave empty lists, but seldom.
  void tidy() {
    if (random_.below(16) == 0) return;
    for (auto& device : schedule_.devices) {
      for (Stage& stage : device) {
        std::erase_if(stage.groups, [](const Group& group) { return group.empty(); });
      }
      std::erase_if(device, [](const Stage& stage) { return stage.groups.empty(); });
    }
  }

 private:
  void list_groups(std::size_t device, std::size_t stage) {
    const auto& groups = schedule_.devices[device][stage].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t p = 0; p < groups[g].size(); ++p)
        positions_.push_back({device, stage, g, p});
    }
  }

  const Position& pick(const std::vector<Position>& positions) {
    return positions[random_.below(positions.size())];
  }
  Stage& stage(const Position& position) {
    return schedule_.devices[position.device][position.stage];
  }
  Group& group(const Position& position) { return stage(position).groups[position.group]; }
  OpId& at(const Position& position) { return group(position)[position.index]; }

  OpId take(const Position& position) {
    const OpId op = at(position);
    group(position).erase(group(position).begin() + static_cast<std::ptrdiff_t>(position.index));
    return op;
  }

  template <class List>
  void insert(List& list, typename List::value_type value) {
    const auto where = static_cast<std::ptrdiff_t>(random_.below(list.size() + 1));
    list.insert(list.begin() + where, std::move(value));
  }

  /// Into a group, as a group of its own, or as a stage of its own.
  void put(OpId op, std::size_t device) {
    auto& stages = schedule_.devices[device];
    const std::uint64_t how = random_.below(3);
    if (stages.empty() || how == 0) return insert(stages, Stage{{{op}}});
    Stage& stage = stages[random_.below(stages.size())];
    if (stage.groups.empty() || how == 1) return insert(stage.groups, Group{op});
    insert(stage.groups[random_.below(stage.groups.size())], op);
  }

  void move(bool to_another_device) {
    const Position from = pick(positions_);
    const std::size_t devices = schedule_.devices.size();
    std::size_t to = from.device;
    if (to_another_device && devices > 1) to = (to + 1 + random_.below(devices - 1)) % devices;
    put(take(from), to);
  }

  void cut_stage(const Position& position) {
    auto& groups = stage(position).groups;
    const std::size_t at = groups.empty() ? 0 : random_.below(groups.size());
    Stage rest;
    rest.groups.assign(groups.begin() + static_cast<std::ptrdiff_t>(at), groups.end());
    groups.resize(at);
    auto& device = schedule_.devices[position.device];
    device.insert(device.begin() + static_cast<std::ptrdiff_t>(position.stage) + 1,
                  std::move(rest));
  }

  void cut_group(const Position& position) {
    const auto middle = group(position).begin() + static_cast<std::ptrdiff_t>(position.index);
    Group rest(middle, group(position).end());
    group(position).erase(middle, group(position).end());
    insert(stage(position).groups, std::move(rest));
  }

  void join_stages(const Position& position) {
    auto& device = schedule_.devices[position.device];
    if (position.stage + 1 == device.size()) return;
    for (Group& group : device[position.stage + 1].groups) stage(position).groups.push_back(group);
    device.erase(device.begin() + static_cast<std::ptrdiff_t>(position.stage) + 1);
  }

  void join_groups(const Position& position) {
    auto& groups = stage(position).groups;
    const std::size_t other = random_.below(groups.size());
    if (other == position.group) return;
    group(position).insert(group(position).end(), groups[other].begin(), groups[other].end());
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(other));
  }

  Schedule& schedule_;
  Random& random_;
  std::vector<Position> stages_, positions_;
};

}  // namespace

std::span<const Mutation> all_mutations() { return kAll; }
std::span<const Mutation> rearrangements() {
  return std::span<const Mutation>(kAll).first(kRearranging);
}

std::string_view to_string(Mutation mutation) {
  static constexpr std::array<std::string_view, kAll.size()> kNames = {
      "swap operators", "swap stages",  "turn a group",     "move to a stage", "move to a device",
      "cut a stage",    "cut a group",  "join stages",      "join groups",     "drop",
      "duplicate",      "drop a stage", "duplicate a stage"};
  return kNames[static_cast<std::size_t>(mutation)];
}

Schedule mutated(Schedule schedule, Mutation mutation, Random& random) {
  Mutator mutator(schedule, random);
  mutator.apply(mutation);
  mutator.tidy();
  return schedule;
}

Schedule mutated(Schedule schedule, std::span<const Mutation> kinds, std::size_t count,
                 Random& random, std::string* what) {
  for (std::size_t i = 0; i < count; ++i) {
    const Mutation mutation = kinds[random.below(kinds.size())];
    schedule = mutated(std::move(schedule), mutation, random);
    if (what) what->append(what->empty() ? "" : ", ").append(to_string(mutation));
  }
  return schedule;
}

}  // namespace hios::test
