#include "cli/flags/rank_flags.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/flags/flight_flags.h"
#include "cli/process/stop_request.h"
#include "cli/process/version.h"
#include "engine/backends.h"
#include "hios/base/error.h"
#include "hios/base/files/streams.h"
#include "hios/platform/platform.h"
#include "mpi/session/address_space.h"
#include "mpi/session/agreement.h"

namespace hios::cli {

namespace po = boost::program_options;

Example two_rank_example(const std::string& command, const std::string& result) {
  if (!with_mpi()) return {command, "the same on one rank, since this build has no MPI"};
  return {"mpirun -np 2 --bind-to none " + command, result};
}

std::vector<std::string> backend_names() {
  std::vector<std::string> names = {"auto"};
  for (const BackendEntry& backend : backends()) names.emplace_back(backend.name);
  return names;
}

po::options_description rank_flags() {
  po::options_description group("Ranks and measuring", 100, 45);
  group.add_options()(
      "backend", value("NAME[,NAME...]")->default_value("auto"),
      daily("auto, reference, cpu or cuda; one for all ranks, or one per rank. cpu:avx2 is cpu "
            "with no newer instructions than AVX2, a kind of device of its own (cpu-avx2); "
            "so are cpu:sse41, cpu:avx and cpu:avx512_core"));
  group.add_options()("threads", value("N"),
                      daily("cores per rank (profile: 1; run: the schedule's)"));
  group.add_options()("oversubscribe", "let ranks share cores if there are too few");
  group.add_options()("warmup", value("N")->default_value("5"), "runs before measuring, at least");
  group.add_options()(
      "warmup-seconds", value("SECONDS"),
      "time of the runs before measuring, at least, since clocks of GPUs rise at first "
      "(0.5 if a rank computes on one, else 0)");
  group.add_options()("iterations", value("N")->default_value("30"),
                      daily("measured runs, at least"));
  group.add_options()("timeout", value("SECONDS")->default_value("60"),
                      "end the job if a rank makes no progress for that long");
  group.add_options()("list-devices",
                      "print the device of each rank and the routes of tensors; run nothing");
  group.add_options()("duration", value("SECONDS")->default_value("0"), "measured time, at least");
  return group;
}

po::options_description device_flags() {
  po::options_description group("GPUs", 100, 45);
  group.add_options()("transport", value("auto|ipc|cuda-aware|nccl|staged|host"),
                      "route of tensors between GPUs (auto); host: between cores by MPI, which "
                      "copies them, where ranks of one host would share their memory");
  group.add_options()("math", value("fp32|tf32|fp16"),
                      "arithmetic (profile: fp32; run: the schedule's)");
  group.add_options()("cuda-graphs", value("on|off"),
                      "record the operators between transfers as CUDA graphs (on)");
  group.add_options()("devices-per-node", value("N"),
                      "GPUs that the ranks of a host share (one for each rank)");
  group.add_options()("allow-nondeterministic",
                      "allow algorithms that give different bits each time they run");
  group.add_options()("without-algorithms", value("NAME[;NAME...]"),
                      "never try these algorithms of convolutions: names as profiles list them, or "
                      "their first words (\"cudnn;graph 37\")");
  return group;
}

std::optional<std::string_view> early_text(int argc, const char* const* argv,
                                           std::string_view flag) {
  for (int i = 1; i < argc; ++i) {
    std::string_view word = argv[i];
    if (!word.starts_with("--") || !word.substr(2).starts_with(flag)) continue;
    word.remove_prefix(2 + flag.size());
    if (word.starts_with("=")) return word.substr(1);
    if (word.empty() && i + 1 < argc) return argv[i + 1];
  }
  return {};
}

std::optional<double> early_timeout_s(int argc, const char* const* argv) {
  const auto word = early_text(argc, argv, "timeout");
  if (!word) return {};
  double seconds = 0;
  const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), seconds);
  const bool number =
      error == std::errc() && end == word->data() + word->size() && seconds >= 0 && seconds <= 1e6;
  return number ? std::optional(seconds) : std::nullopt;
}

void require_address_space() { mpi::require_address_space(160); }

bool parse_on_all_ranks(Flags& flags, int argc, char** argv, mpi::Transport& transport) {
  mpi::agreed(transport, [&] {
    flags.parse(argc, argv);
    check_flight_folder(flags);
    require_address_space();
  });
  std::string words = std::filesystem::path(argv[0]).filename();
  for (int i = 1; i < argc; ++i) words += std::string(" ") + argv[i];
  mpi::agree_on_facts(transport, {{"the command line", words}, {"the build", build_id()}});
  return !answered(flags, transport.rank() == Rank(0));
}

void share_standard_input(const Flags& flags, job::Watch& watch) {
  const std::vector<NamedFile> files = flags.files();
  if (std::ranges::none_of(files,
                           [](const NamedFile& file) { return is_standard_input(file.name); }))
    return;
  constexpr double kAsLongAsItTakes_s = 1e9;
  mpi::Transport& transport = watch.transport();
  watch.phase("waiting for standard input", kAsLongAsItTakes_s);
  std::string text;
  mpi::agreed(transport, [&] {
    const auto max_bytes = static_cast<Bytes>(flags.integer("max-input", 1, INT64_MAX));
    if (transport.rank() == Rank(0)) text = standard_input({.max_bytes = max_bytes});
  });
  set_standard_input(transport.broadcast(text));
  watch.phase("reading what to do");
}

namespace {

/// Flags that backends on the CPU do not use.
constexpr const char* kDeviceFlags[] = {"transport",          "cuda-graphs",
                                        "devices-per-node",   "allow-nondeterministic",
                                        "without-algorithms", "blocking"};

bool read_switch(const Flags& flags, const std::string& flag, bool otherwise) {
  const auto word = flags.optional_text(flag);
  if (!word) return otherwise;
  if (*word != "on" && *word != "off") {
    throw InputError("--" + flag + " takes on or off, not '" + *word + "'");
  }
  return *word == "on";
}

/// Returns the names that --without-algorithms lists, with single spaces. They contain commas, so
/// semicolons separate them.
std::vector<std::string> read_algorithms(const Flags& flags) {
  std::vector<std::string> names;
  std::istringstream text(flags.optional_text("without-algorithms").value_or(""));
  for (std::string part; std::getline(text, part, ';');) {
    std::istringstream words(part);
    std::string name;
    for (std::string word; words >> word;) name += (name.empty() ? "" : " ") + word;
    if (!name.empty()) names.push_back(name);
  }
  if (names.empty() && flags.given("without-algorithms")) {
    throw InputError("--without-algorithms names no algorithm");
  }
  return names;
}

/// Returns the settings of the OpenMP library on which times depend.
Json openmp_environment() {
  Json settings = Json::object();
  for (const char* name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_PROC_BIND"}) {
    if (const char* value = std::getenv(name)) settings[name] = value;
  }
  return settings;
}

void refuse_device_flags(const Flags& flags) {
  for (const char* flag : kDeviceFlags) {
    if (!flags.given(flag)) continue;
    if (std::string_view(flag) == "transport" && flags.text(flag) == "host") continue;
    throw InputError(std::string("--") + flag +
                     " is about GPUs, and no rank computes on one: leave it out, or choose "
                     "--backend cuda");
  }
}

}  // namespace

bool computes_on_gpu(const job::RankOptions& options, std::size_t ranks) {
  const auto backends = job::backends_of_ranks(options, ranks);
  return std::any_of(backends.begin(), backends.end(),
                     [](const BackendEntry* backend) { return backend->kind == kGpuKind; });
}

job::RankOptions read_rank_options(const Flags& flags, std::size_t ranks) {
  job::RankOptions options;
  options.backends = flags.list("backend");
  if (!computes_on_gpu(options, ranks)) refuse_device_flags(flags);
  options.share_cores = flags.given("oversubscribe");
  options.recordings = read_switch(flags, "cuda-graphs", options.recordings);
  if (const auto count = flags.optional_integer("devices-per-node", 0, 1024)) {
    options.devices_per_host = static_cast<std::size_t>(*count);
  }
  options.deterministic = !flags.given("allow-nondeterministic");
  options.without_algorithms = read_algorithms(flags);
  options.environment = openmp_environment();
  return options;
}

const mpi::Route* read_route(const Flags& flags) {
  const auto route = flags.optional_text("transport");
  return route ? mpi::parse_route(*route) : nullptr;
}

std::optional<Precision> read_math(const Flags& flags) {
  const auto name = flags.optional_text("math");
  return name ? std::optional(parse_precision(*name)) : std::nullopt;
}

Protocol read_protocol(const Flags& flags, bool on_gpu) {
  constexpr double kClocksRise_s = 0.5;
  Protocol protocol;
  protocol.warmup = static_cast<int>(flags.integer("warmup", 0, 1'000'000));
  protocol.warmup_s = on_gpu ? kClocksRise_s : 0;
  if (flags.given("warmup-seconds")) protocol.warmup_s = flags.number("warmup-seconds", 0, 3600);
  protocol.iterations = static_cast<int>(flags.integer("iterations", 1, 100'000'000));
  protocol.duration_s = flags.number("duration", 0, 1e6);
  protocol.stop = StopRequest::asked;
  return protocol;
}

double read_timeout(const Flags& flags) { return flags.number("timeout", 0.1, 1e6); }

void ensure_openmp_environment(char** argv) {
  bool changed = false;
  for (const auto& [name, value] : recommended_openmp_environment()) {
    if (std::getenv(std::string(name).c_str())) continue;  // the user's setting counts
    setenv(std::string(name).c_str(), std::string(value).c_str(), 0);
    changed = true;
  }
  // If the restart fails, the program goes on: slower between stages, with the same results.
  if (changed) execv("/proc/self/exe", argv);
}

}  // namespace hios::cli
