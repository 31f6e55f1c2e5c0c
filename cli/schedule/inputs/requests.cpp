#include "cli/schedule/inputs/requests.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "hios/base/error.h"
#include "hios/schedule/schedule.h"

namespace hios::cli {
namespace {

using scheduler::Algorithm;
using scheduler::Request;

/// Returns the algorithms that --algorithm and --compare name, each once. A comparison includes
/// the baselines (sequential and ios; of cold starts load-then-run and pipelined), and without
/// --algorithm all. Without either it is best where --time-limit says how long it may search, and
/// for another objective than latency; else hios.
std::vector<const Algorithm*> chosen_algorithms(const Flags& flags,
                                                const scheduler::Registry& registry) {
  const bool compare = flags.given("compare");
  const std::string objective = flags.text("objective");
  const auto is_for = [&](const Algorithm& algorithm) {
    return algorithm.objective == Objective::kLatency ||
           to_string(algorithm.objective) == objective;
  };
  std::vector<std::string> names;
  if (compare && flags.given("algorithm")) {
    names = {"sequential", "ios"};
    if (objective == to_string(Objective::kColdStart)) names = {"load-then-run", "pipelined"};
  }
  if (compare && !flags.given("algorithm")) names = {"all"};
  if (flags.given("algorithm")) {
    for (std::string& name : flags.list("algorithm")) names.push_back(std::move(name));
  } else if (!compare) {
    const bool searches =
        objective != to_string(Objective::kLatency) || flags.written("time-limit");
    names = {searches ? "best" : "hios"};
  }
  std::vector<const Algorithm*> chosen;
  const auto choose = [&chosen](const Algorithm& algorithm) {
    if (std::find(chosen.begin(), chosen.end(), &algorithm) == chosen.end())
      chosen.push_back(&algorithm);
  };
  for (const std::string& name : names) {
    if (name != "all") {
      const Algorithm& algorithm = registry.find(name);
      if (!is_for(algorithm)) {
        const std::string other(to_string(algorithm.objective));
        throw InputError(name + " plans for " + other + ": give --objective " + other);
      }
      choose(algorithm);
      continue;
    }
    for (const Algorithm& algorithm : registry.all()) {
      if (is_for(algorithm)) choose(algorithm);
    }
  }
  if (chosen.size() > 1 && (flags.given("output") || flags.given("timeline"))) {
    throw InputError(
        "--output and --timeline take one algorithm; --json and --csv compare several");
  }
  return chosen;
}

/// Gives each algorithm the --option words that it knows. Throws InputError for a word that none
/// knows.
std::vector<Request> read_options(const Flags& flags, const std::vector<const Algorithm*>& chosen) {
  std::vector<Request> requests;
  for (const Algorithm* algorithm : chosen)
    requests.push_back({algorithm, Options(algorithm->options)});
  std::set<std::string> keys;
  for (const std::string& word : flags.repeated("option")) {
    const std::string key = word.substr(0, word.find('='));
    if (!keys.insert(key).second) {
      throw InputError("--option gives " + quote(key) + " twice; remove one of the two");
    }
    bool known = false;
    for (Request& each : requests) {
      if (each.options.has(key)) each.options.set(word);
      known = known || each.options.has(key);
    }
    if (!known) requests.front().options.set(word);  // throws, and lists the names
  }
  return requests;
}

}  // namespace

std::vector<Request> read_requests(const Flags& flags, const scheduler::Registry& registry) {
  if (flags.given("export-model") && !flags.given("model")) {
    throw InputError("--export-model writes a --model; a graph has none");
  }
  const bool exports =
      flags.given("export-graph") || flags.given("export-platform") || flags.given("export-model");
  if (flags.given("algorithm") || flags.given("compare") || !exports) {
    return read_options(flags, chosen_algorithms(flags, registry));
  }
  for (const char* result : {"output", "timeline", "option", "json", "csv", "markdown", "latex"}) {
    if (flags.given(result)) throw InputError(std::string("--") + result + " needs --algorithm");
  }
  return {};
}

}  // namespace hios::cli
