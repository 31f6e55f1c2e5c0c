#include "cli/flags/flight_flags.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/flags/rank_flags.h"
#include "hios/base/error.h"
#include "hios/flight/explain.h"
#include "mpi/messages/launcher.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* kFlag = "flight-record";
constexpr const char* kOff = "off";
constexpr std::array<std::string_view, 7> kFlagsThatRunNothing = {
    "--explain", "--list-devices", "--dry-run", "--help", "--help=all", "-h", "--version"};

bool names_folder(const std::string& value) { return value != kOff; }

/// Returns true for "PROGRAM-rank-R.flight.json".
bool is_flight_record(const std::string& name) {
  return name.ends_with(".flight.json") && name.find("-rank-") != std::string::npos;
}

/// Returns the folder of records where none is given: the user's for the state of programs (XDG
/// Base Directory Specification), so that it is the same wherever a program starts and others
/// cannot write to it. Empty: the environment names none.
std::string default_folder() {
  for (const auto& [variable, below] :
       {std::pair("XDG_STATE_HOME", "/hios"), std::pair("HOME", "/.local/state/hios")}) {
    const char* const base = std::getenv(variable);
    std::error_code error;
    const bool is_there = std::string_view(variable) != "HOME" ||
                          (base && std::filesystem::is_directory(base, error));
    if (base && base[0] == '/' && is_there) return std::string(base) + below;
  }
  return {};
}

/// Returns the default value of --flight-record, by which other outputs are compared with records.
std::string default_text() {
  const std::string folder = default_folder();
  return folder.empty() ? kOff : folder;
}

}  // namespace

po::options_description flight_flags() {
  po::options_description group("Failures", 100, 45);
  group.add_options()(
      kFlag,
      output_folder("FOLDER|off", is_flight_record, names_folder)
          ->default_value(default_text(), ""),
      "folder in which a rank that fails, hangs or gets SIGUSR1 writes its last 256 steps: "
      "PROGRAM-rank-R.flight.json, which replaces an earlier one (default: "
      "$XDG_STATE_HOME/hios, or ~/.local/state/hios); off: nothing is recorded");
  return group;
}

// Its files need no role: with --explain nothing is written, flight records included.
po::options_description explain_flags() {
  po::options_description group("Afterwards", 100, 45);
  group.add_options()(
      "explain", po::value<std::vector<std::string>>()->multitoken()->value_name("FILE..."),
      "read the flight records of a job's ranks together, and print which rank waited "
      "for which; run nothing");
  return group;
}

void prepare_record(flight::Recorder& recorder, int argc, const char* const* argv) {
  recorder.set_program(std::filesystem::path(argv[0]).filename().string());
  if (const auto rank = mpi::launched_rank()) recorder.set_rank(*rank, mpi::launched_ranks());
  const auto given = early_text(argc, argv, kFlag);
  // A program that runs nothing writes no record, which could replace one that it reads.
  const bool runs = std::none_of(argv, argv + argc, [](std::string_view word) {
    return std::find(kFlagsThatRunNothing.begin(), kFlagsThatRunNothing.end(), word) !=
           kFlagsThatRunNothing.end();
  });
  recorder.set_enabled(given != kOff);
  if (!runs || given == kOff) {
    recorder.set_folder("");
  } else if (given) {
    recorder.set_folder(std::string(*given));
  } else {
    recorder.set_own_folder(default_folder(), "give them one by --flight-record FOLDER");
  }
  recorder.phase("starting");
}

void check_flight_folder(const Flags& flags) {
  const std::string folder = flags.text(kFlag);
  std::error_code error;
  if (folder == kOff || !flags.written(kFlag)) return;
  if (!std::filesystem::is_directory(folder, error) || access(folder.c_str(), W_OK | X_OK) != 0)
    throw InputError("--" + std::string(kFlag) +
                     " takes a folder that exists and can be written to, or off, not '" +
                     printable(folder) + "'");
}

std::string explanation(const Flags& flags, const ReadLimits& limits) {
  std::vector<flight::Flight> flights;
  for (const std::string& file : flags.repeated("explain")) {
    if (file.empty()) throw InputError("--explain takes files, and the name of one is empty");
    flights.push_back(flight::read_flight(file, limits));
  }
  return flight::explain(std::move(flights));
}

}  // namespace hios::cli
