#include "cli/run/inputs/emulated_flags.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags/file_flags.h"
#include "cli/process/commands.h"
#include "engine/job/emulated/emulated_inputs.h"
#include "hios/base/error.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* kEmulated = "emulated";
constexpr double kLeastScale = 1e-6, kMostScale = 1e6;

/// The flags that an emulated run takes.
const std::set<std::string_view> kAllowed = {
    "backend",   "graph",      "platform",       "time-scale", "schedule", "verify",
    "warmup",    "iterations", "warmup-seconds", "duration",   "timeout",  "oversubscribe",
    "json",      "csv",        "trace",          "outputs",    "layers",   "percentiles",
    "max-error", "dry-run",    "seed",           "force",      "executor", "max-input",
    "quiet",     "verbose",    "flight-record"};

}  // namespace

po::options_description emulated_flags() {
  po::options_description group("Emulated machine (--backend emulated)", 100, 45);
  group.add_options()("graph", input_file("FILE"),
                      "a hios-graph file instead of a model: operators sleep for their times");
  group.add_options()("platform", input_file("FILE"),
                      "a hios-platform file with routes: loads and messages take their time on its "
                      "buses");
  group.add_options()("time-scale", value("X")->default_value("1"),
                      "multiply all times by X, 1e-6 to 1e6: the longer they are, the less this "
                      "machine's own count");
  return group;
}

bool emulates(const Flags& flags) {
  const std::vector<std::string> backends = flags.list("backend");
  const auto named = std::ranges::count(backends, kEmulated);
  if (named == 0) {
    for (const char* flag : {"graph", "platform", "time-scale"}) {
      if (!flags.written(flag)) continue;
      throw InputError(std::string("--") + flag +
                       " is for a machine that is emulated: add --backend emulated, or leave it "
                       "out");
    }
    return false;
  }
  if (backends.size() > 1) {
    throw InputError("--backend emulated is for all ranks: give it alone");
  }
  if (flags.given("model")) {
    throw InputError(
        "--backend emulated runs a graph's times, no model: give --graph FILE instead "
        "of --model (hios-schedule --export-graph FILE writes a model's)");
  }
  const std::vector<std::string> others = flags.written_except(kAllowed);
  if (!others.empty()) {
    throw InputError("--" + others.front() +
                     " is for runs that compute, and --backend emulated lets time pass for one "
                     "inference after the other: leave it out");
  }
  for (const char* flag : {"graph", "schedule", "platform"}) {
    if (flags.given(flag)) continue;
    throw InputError(
        "--backend emulated needs --graph FILE, --schedule FILE and --platform FILE: "
        "add --" +
        std::string(flag));
  }
  flags.number("time-scale", kLeastScale, kMostScale);
  return true;
}

std::string emulated_words(const Flags& flags) {
  return "--graph " + shell_word(flags.text("graph")) + " --platform " +
         shell_word(flags.text("platform"));
}

job::RunInputs read_emulated(const Flags& flags, const ReadLimits& limits) {
  return job::read_emulated_inputs(flags.text("graph"), flags.text("schedule"),
                                   flags.text("platform"),
                                   flags.number("time-scale", kLeastScale, kMostScale), limits);
}

}  // namespace hios::cli
