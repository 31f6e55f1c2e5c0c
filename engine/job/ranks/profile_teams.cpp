#include "engine/job/ranks/profile_teams.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "hios/base/error.h"
#include "mpi/exchange.h"

namespace hios::job {
namespace {

/// The properties of a rank's device by which ranks are alike.
struct Likeness {
  std::string backend, kind;
  int threads = 1;
  Precision precision = Precision::kFp32;
  Json describe;
  static auto fields(auto& self) {
    return std::tie(self.backend, self.kind, self.threads, self.precision, self.describe);
  }
};

/// Returns an empty configuration for each rank, with its device's properties.
std::vector<Configuration> gather_likes(mpi::Transport& transport, const Backend& backend,
                                        Precision precision) {
  const Likeness mine = {std::string(backend.name()), std::string(backend.kind()),
                         backend.threads(), precision, backend.describe()};
  std::vector<Configuration> likes;
  for (Likeness& rank : mpi::gather(transport, mine)) {
    Configuration& like = likes.emplace_back();
    like.backend = std::move(rank.backend);
    like.kind = std::move(rank.kind);
    like.threads = rank.threads;
    like.precision = rank.precision;
    like.ranks = transport.size();
    like.machine["backend"] = std::move(rank.describe);
  }
  return likes;
}

/// Returns the devices in words by rank (Configuration::devices); empty where all are alike.
std::vector<std::string> device_words(const std::vector<Configuration>& likes) {
  const auto all = [&](auto same) { return std::all_of(likes.begin(), likes.end(), same); };
  DeviceIdentity identity;
  for (const Configuration& like : likes) {
    if (identity.empty()) identity = like.identity();
  }
  const bool one_kind = all([&](const auto& like) { return like.kind == likes.front().kind; });
  const bool one_identity =
      all([&](const auto& like) { return like.identity().empty() || like.identity() == identity; });
  if (one_kind && one_identity) return {};
  std::vector<std::string> words;
  for (const Configuration& like : likes) {
    const DeviceIdentity own = like.identity();
    words.push_back(one_identity || own.empty() ? like.kind : own.text());
  }
  return words;
}

/// Throws InputError where two backends compute on one kind of device, also in different
/// arithmetics: a profile has one backend for a kind.
void refuse_two_backends(const std::vector<Configuration>& likes) {
  for (const Configuration& like : likes) {
    const auto other = std::find_if(likes.begin(), likes.end(), [&](const Configuration& one) {
      return one.kind == like.kind && one.backend != like.backend;
    });
    if (other == likes.end()) continue;
    throw InputError(like.backend + " and " + other->backend + " both compute on devices of kind " +
                     like.kind +
                     ", and no schedule could tell which is which: measure one at a time, into "
                     "files of their own");
  }
}

}  // namespace

Teams gather_teams(mpi::Transport& transport, const Backend& backend, Precision precision) {
  std::vector<Configuration> likes = gather_likes(transport, backend, precision);
  refuse_two_backends(likes);
  const std::vector<std::string> devices = device_words(likes);
  Teams teams;
  for (std::size_t r = 0; r < likes.size(); ++r) {
    likes[r].devices = devices;
    const auto known =
        std::find_if(teams.like.begin(), teams.like.end(),
                     [&](const Configuration& like) { return like.key() == likes[r].key(); });
    const auto team = static_cast<std::size_t>(known - teams.like.begin());
    if (known == teams.like.end()) {
      teams.like.push_back(likes[r]);
      teams.ranks.emplace_back();
    }
    teams.ranks[team].emplace_back(r);
    if (transport.rank() == Rank(r)) teams.mine = team;
  }
  return teams;
}

Platform platform_of(const Teams& teams, int streams) {
  std::vector<Device> devices;
  std::map<std::string, std::size_t> of_kind;
  for (std::size_t r = 0; r < teams.like.front().ranks; ++r) {
    std::size_t team = 0;
    const auto has = [&](const Team& ranks) {
      return std::find(ranks.begin(), ranks.end(), Rank(r)) != ranks.end();
    };
    while (!has(teams.ranks[team])) ++team;
    const Configuration& like = teams.like[team];
    Device device;
    device.name = like.kind + std::to_string(of_kind[like.kind]++);
    device.kind = like.kind;
    device.threads = like.threads;
    device.streams = streams;
    device.precision = like.precision;
    device.identity = like.identity();
    devices.push_back(std::move(device));
  }
  return Platform(std::move(devices));
}

namespace {

/// Throws InputError where the configuration is of another machine: times of two machines would be
/// compared as if they were of one.
void check_same_machine(const Configuration& known, const Configuration& like,
                        const std::string& file, const std::string& processor,
                        const std::string& route) {
  const auto differs = [&](const char* what, const std::string& here) {
    const auto found = known.machine->find(what);
    if (found == known.machine->end() || *found == here) return;
    const std::string there = found->is_string() ? found->get<std::string>() : found->dump();
    throw InputError(file + ": $.configurations: measured on another " + what + " (" + there +
                     ", here " + here + "): write to another file");
  };
  differs("processor", processor);
  differs("transport", route);
  // A GPU's libraries are part of its identity; those of cores are not.
  const auto library = [](const Configuration& of) {
    const auto backend = of.machine->find("backend");
    const bool has = backend != of.machine->end() && backend->is_object();
    const Json text = has ? backend->value("library", Json()) : Json();
    return text.is_string() ? text.get<std::string>() : std::string();
  };
  if (!like.identity().empty() || library(known).empty() || library(known) == library(like)) return;
  throw InputError(file + ": $.configurations: measured with another library (" +
                   printable(library(known), 100) + ", here " + library(like) +
                   "): write to another file");
}

}  // namespace

std::vector<Configuration*> configurations_of(const Teams& teams, Profile& profile,
                                              const std::string& processor,
                                              const std::string& route) {
  for (std::size_t team = 0; team < teams.like.size(); ++team) {
    const Configuration& like = teams.like[team];
    const Configuration* const known = profile.find(like.key());
    if (!known) {
      profile.configurations.push_back(like);
      continue;
    }
    if (known->backend != like.backend) {
      throw InputError(profile.file + " holds times of the " + known->backend +
                       " backend for this configuration: write to another file");
    }
    if (team == teams.mine) check_same_machine(*known, like, profile.file, processor, route);
  }
  std::vector<Configuration*> found;  // after all additions, which move them
  for (const Configuration& like : teams.like) found.push_back(profile.find(like.key()));
  return found;
}

}  // namespace hios::job
