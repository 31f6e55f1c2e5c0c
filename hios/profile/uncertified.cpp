#include "hios/profile/uncertified.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hios/base/error.h"

// A profile's machine is a free object: a value of another type counts as missing.
namespace hios {
namespace {

constexpr std::size_t kMostOfProfileName = 200, kMostOfFact = 100;

/// Returns a member of an object; null where there is none.
Json machine_fact(const Json& object, const std::string& key) {
  return object.is_object() && object.contains(key) ? object.at(key) : Json();
}

std::set<int> certified_cores(const std::string& model, const Configuration& measured) {
  const Json listed = machine_fact(machine_fact(measured.machine, "certified_cores"), model);
  if (!listed.is_array()) return {measured.threads};
  std::set<int> cores;
  for (const Json& each : listed) {
    if (each.is_number_integer()) cores.insert(each.get<int>());
  }
  return cores;
}

std::string cores_text(const std::set<int>& cores) {
  std::string text;
  for (const int each : cores) text += (text.empty() ? "" : ", ") + std::to_string(each);
  return text + (cores == std::set{1} ? " core" : " cores");
}

}  // namespace

bool is_uncertified(const std::string& signature, const Configuration& measured) {
  const Json& machine = *measured.machine;
  if (!machine.is_object() || !machine.contains("uncertified")) return false;
  const Json& listed = machine.at("uncertified");
  return std::ranges::find(listed, Json(signature)) != listed.end();
}

std::optional<OpId> uncertified_shard(const Graph& graph, const Configuration& measured) {
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (is_uncertified(graph.op(OpId(i)).signature, measured)) return OpId(i);
  }
  return {};
}

void require_certified(const Graph& graph, const Configuration& measured, const std::string& file) {
  const auto shard = uncertified_shard(graph, measured);
  if (!shard) return;
  throw InputError(printable(file, kMostOfProfileName) + ": " + quote(graph.op(*shard).name) +
                   " does not give the bits of its whole operator, as the profile found; leave it "
                   "out of the cuts");
}

void require_certified_cores(const std::string& model, const std::set<int>& cores,
                             const Configuration& measured, const std::string& file) {
  const std::set<int> certified = certified_cores(model, measured);
  if (std::ranges::includes(certified, cores)) return;
  throw InputError(printable(file, kMostOfProfileName) + ": the shards of " + printable(model) +
                   " were compared with their whole operators on " + cores_text(certified) +
                   ", and stages may give them " + cores_text(cores) +
                   "; measure them with as many streams as the plan has");
}

void require_certified_by(const Json& backend, const Configuration& measured,
                          const std::string& file) {
  for (const char* const fact : {"library", "isa"}) {
    const Json there = machine_fact(machine_fact(measured.machine, "backend"), fact);
    const Json here = machine_fact(backend, fact);
    if (!there.is_string() || !here.is_string() || there == here) continue;
    throw InputError(printable(file, kMostOfProfileName) +
                     ": shards were compared with their whole operators by " +
                     printable(there.get<std::string>(), kMostOfFact) + ", and here is " +
                     printable(here.get<std::string>(), kMostOfFact) +
                     ": measure them here, or leave out the cuts");
  }
}

}  // namespace hios
