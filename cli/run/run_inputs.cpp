#include "cli/run/run_inputs.h"

#include <algorithm>

#include "cli/finding_line.h"
#include "hios/base/digest.h"
#include "hios/base/error.h"

namespace hios::cli {

namespace po = boost::program_options;

po::options_description run_flags() {
  po::options_description group("Run", 100, 45);
  group.add_options()("schedule", value("FILE"), "the schedule; rank r is its device r");
  group.add_options()("profile", value("FILE"), "predict by these costs, stage by stage");
  group.add_options()("percentiles", value("P[,P...]"),
                      "further percentiles of the latency: 50,90,99.9");
  group.add_options()("verify", value("operators")->implicit_value("outputs"),
                      "compare with the reference backend, and bit by bit with one rank; "
                      "=operators: every operator");
  group.add_options()("atol", value("X"),
                      "|value - reference| allowed, in the values' own unit (fp32: 1e-3, else by "
                      "the arithmetic) ...");
  group.add_options()("rtol", value("X"), "... plus this share of the expected value (the same)");
  group.add_options()("max-error", value("PERCENT"),
                      "fail (exit 1) where the prediction is further off");
  group.add_options()("trace", value("FILE"),
                      "write a Chrome trace (Perfetto): planned and measured");
  group.add_options()("blocking",
                      "GPUs: wait after every operator, to learn which one fails; times are not "
                      "comparable");
  group.add_options()("dry-run", "plan and print, run nothing");
  return group;
}

namespace {

Verify read_verify(const Flags& flags) {
  const auto word = flags.optional_text("verify");
  if (!word) return Verify::kNo;
  if (*word == "outputs") return Verify::kOutputs;
  if (*word == "operators") return Verify::kOperators;
  throw InputError("--verify takes nothing or =operators, not '" + *word + "'");
}

/// A network that passes through several arithmetics has the errors of the roughest.
Precision roughest_precision(const Platform& platform) {
  const auto rank = [](const Device& device) { return default_tolerance(device.precision).atol; };
  const auto devices = platform.devices();
  const auto found = std::max_element(devices.begin(), devices.end(),
                                      [&](auto& a, auto& b) { return rank(a) < rank(b); });
  return found->precision;
}

Tolerance read_tolerance(const Flags& flags, Precision precision) {
  const Tolerance usual = default_tolerance(precision);
  return {flags.given("atol") ? flags.number("atol", 0, 1e30) : usual.atol,
          flags.given("rtol") ? flags.number("rtol", 0, 1e30) : usual.rtol};
}

std::vector<double> read_percentiles(const Flags& flags) {
  std::vector<double> percentiles;
  if (!flags.given("percentiles")) return percentiles;
  for (const std::string& word : flags.list("percentiles")) {
    percentiles.push_back(parse_number("percentiles", word, 0, 100));
  }
  return percentiles;
}

void check_schedule(const RunJob& job, const std::string& file, std::size_t ranks) {
  if (job.platform.size() != ranks) {
    throw InputError(file + ": $.devices: the schedule has " + std::to_string(job.platform.size()) +
                     " devices and the job " + std::to_string(ranks) +
                     " ranks: start it with mpirun -np " + std::to_string(job.platform.size()));
  }
  const auto findings = validate(job.network.coarse.graph, job.platform, job.schedule.schedule);
  if (findings.empty()) return;
  std::string line = finding_line(file, findings.front());
  if (findings.size() > 1) {
    line +=
        " (and " + std::to_string(findings.size() - 1) + " more: hios-schedule --check lists them)";
  }
  throw InputError(line);
}

/// The run's devices must be the schedule's: kinds by backend, threads by flag.
void check_devices(const Flags& flags, RunJob& job, const std::string& file) {
  const auto threads = flags.optional_integer("threads", 1, 4096);
  for (std::size_t r = 0; r < job.platform.size(); ++r) {
    const Device& device = job.platform.device(DeviceId(r));
    const BackendEntry& entry = find_backend(job.backends[r]);
    const std::string where = file + ": $.devices[" + std::to_string(r) + "]: ";
    if (entry.kind != device.kind) {
      throw InputError(where + "the schedule wants a device of kind " + device.kind + ", and the " +
                       std::string(entry.name) + " backend is of kind " + std::string(entry.kind) +
                       ": choose another --backend, or schedule for --kind " +
                       std::string(entry.kind));
    }
    if (threads && *threads != device.threads) {
      throw InputError(where + "made for " + std::to_string(device.threads) +
                       " threads a rank, and --threads says " + std::to_string(*threads) +
                       ": leave the flag out, or schedule again");
    }
    if (job.devices.precision && *job.devices.precision != device.precision) {
      const std::string asked(to_string(*job.devices.precision));
      throw InputError(where + "made for " + std::string(to_string(device.precision)) +
                       ", and --math says " + asked +
                       ": leave the flag out, or schedule again with --math " + asked);
    }
    if (!entry.has(device.precision)) {
      throw InputError(where + "made for " + std::string(to_string(device.precision)) +
                       ", which the " + std::string(entry.name) +
                       " backend has not: choose another --backend, or schedule again with another "
                       "--math");
    }
    job.threads.push_back(std::max(1, device.threads));
  }
}

}  // namespace

RunJob read_run_job(const Flags& flags, const mpi::Transport& transport) {
  const bool first = transport.rank() == Rank(0);
  const Common common = read_common(flags, !first);
  const std::string file = flags.text("schedule");
  check_distinct_files(flags);
  const Json json = read_json(file, common.limits);
  const JsonView root(json, file);
  RunJob job(common, load_network(flags, common.limits, schedule_head(root)));
  job.schedule = schedule_from_json(root, job.network.coarse.graph);
  job.schedule_digest = Digest().add(json.dump()).hex();
  job.platform = Platform(job.schedule.devices);
  check_schedule(job, file, transport.size());
  job.backends = backends_by_rank(flags, transport.size());
  job.devices = read_device_options(flags, job.backends);
  check_devices(flags, job, file);
  if (const auto profile = flags.optional_text("profile")) {
    const Json costs = read_json(*profile, common.limits);
    job.profile = profile_from_json(JsonView(costs, *profile));
    job.profile->file = *profile;
  }
  job.protocol = read_protocol(flags);
  job.percentiles = read_percentiles(flags);
  job.verify = read_verify(flags);
  job.precision = roughest_precision(job.platform);
  job.tolerance = read_tolerance(flags, job.precision);
  if (flags.given("max-error")) job.max_error = flags.number("max-error", 0, 1e6);
  if (job.max_error && !job.profile && !job.schedule.has_prediction) {
    throw InputError("--max-error judges a prediction, and " + file +
                     " has none: give --profile FILE");
  }
  if (job.max_error && job.devices.blocking) {
    throw InputError("--max-error judges times, and --blocking spoils them: leave one of them out");
  }
  job.timeout_s = flags.number("timeout", 0.1, 1e6);
  if (const auto trace = flags.optional_text("trace")) {
    job.trace = *trace;
    if (first) check_writable(*job.trace, common.existing);
  }
  job.dry_run = flags.given("dry-run");
  for (const char* output : {"json", "csv", "trace"}) {
    if (job.dry_run && flags.given(output)) {
      throw InputError(std::string("--dry-run measures nothing that --") + output + " could hold");
    }
  }
  return job;
}

std::optional<Timeline> predicted_timeline(const RunJob& job, const CostModel* costs) {
  if (!costs) return std::nullopt;
  return simulate(job.network.coarse.graph, job.schedule.schedule, *costs);
}

}  // namespace hios::cli
