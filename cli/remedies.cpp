#include "cli/remedies.h"

#include <algorithm>
#include <set>
#include <variant>
#include <vector>

#include "cli/process/commands.h"
#include "hios/base/files/streams.h"
#include "hios/base/log.h"
#include "hios/base/need.h"
#include "hios/base/numbers/precision.h"
#include "hios/platform/cpu_kinds.h"
#include "hios/platform/platform.h"

namespace hios::cli {
namespace {

using MeasuredDevice = need::Measurement::Device;

bool in_fp32(const MeasuredDevice& device) { return device.math == to_string(Precision::kFp32); }

/// Returns the backend that measures such a device: on cores only the reference backend has more
/// than fp32.
std::string backend_for(const MeasuredDevice& device) {
  if (device.kind == kGpuKind) return "cuda";
  if (const InstructionCap* const cap = cap_of_kind(device.kind)) {
    return std::string(kCpuKind) + ":" + std::string(cap->name);
  }
  return device.kind == kCpuKind && !in_fp32(device) ? "reference" : device.kind;
}

/// Returns the value of --backend, empty where hios-profile finds the backends by itself.
std::string backends_for(const need::Measurement& need) {
  const MeasuredDevice& device = need.devices[need.device];
  if (need.alike) return backend_for(device) == device.kind ? "" : backend_for(device);
  std::string backends;
  for (const MeasuredDevice& each : need.devices) {
    backends += (backends.empty() ? "" : ",") + backend_for(each);
  }
  return backends;
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

/// Returns true the first time that the process asks for this line: a command for several numbers
/// of devices reads its profile for each. Called on the main thread.
bool is_new(const std::string& line) {
  static std::set<std::string> known;
  return known.insert(line).second;
}

std::string use_instead(const std::string& backend) { return "; use --backend " + backend; }

/// The words that follow the text of an error with such a need. A kind of need without words here
/// does not compile.
struct Remedy {
  const std::string& model_flags;
  const Invocation& here;

  std::string operator()(std::monostate) const { return {}; }

  std::string operator()(const need::Measurement& need) const {
    return "; measure it with: " + measurement_command(need, model_flags, here);
  }

  std::string operator()(const need::GpuArchitectureInBuild& need) const {
    return use_instead(need.instead) +
           ", or build for it with: " + build_command("cuda", "-DCMAKE_CUDA_ARCHITECTURES=native");
  }

  std::string operator()(const need::BackendInBuild& need) const {
    const std::string words = use_instead(need.instead);
    if (need.backend == "cpu") {
      return words + ", or build with: apt-get install libdnnl-dev && " +
             build_command("release", "-DHIOS_CPU=ON");
    }
    if (need.backend != "cuda") return words;
    return words +
           ", or, where CUDA 13 and cuDNN 9 are installed, build with: " + build_command("cuda");
  }

  std::string operator()(need::ColdStartEngine) const {
    return "; hios-schedule --check simulates it, and without stores, weights and objective its "
           "stages run with all parameters loaded";
  }

  std::string operator()(need::PackedWeights) const {
    return "; pack weights on one rank, with the model, schedule and profile of the run, by "
           "hios-run --write-weights FILE --packed (new ones) or --weights FILE --packed, and give "
           "the run --weights FILE";
  }

  std::string operator()(need::OtherBackend) const { return "; choose another with --backend"; }

  std::string operator()(need::SameGpu) const {
    return ": run it where that GPU is, or measure with hios-profile and schedule again here";
  }

  std::string operator()(need::AlikeHosts) const {
    return ": times and plans of one are not those of the other; run on hosts that are alike";
  }

  std::string operator()(need::CoreQuota) const {
    return ": give the container or the job more cores, or use fewer ranks or --threads";
  }

  std::string operator()(need::CudaAwareMpi) const {
    return ": start with a CUDA-aware MPI (scripts/build-openmpi-cuda.sh makes one)";
  }

  std::string operator()(need::PerformanceGovernor) const {
    return ": set it by cpupower frequency-set -g performance while you measure";
  }

  std::string operator()(need::UnsharedCores) const {
    return ": use fewer ranks or --threads, or give mpirun --bind-to none";
  }

  std::string operator()(const need::SingleCopy& need) const {
    const char* const variable = need.library.starts_with("MPICH") ? "MPIR_CVAR_CH4_CMA_ENABLE"
                                 : need.library.starts_with("Open MPI 4.")
                                     ? "OMPI_MCA_btl_vader_single_copy_mechanism"
                                     : "OMPI_MCA_smsc";
    std::string words = ": leave " + std::string(variable) + " unset";
    if (need.ptrace_scope > 0) {
      words +=
          ", set kernel.yama.ptrace_scope to 0 (it is " + std::to_string(need.ptrace_scope) + ")";
    }
    return words + ", and give containers the right SYS_PTRACE";
  }

  std::string operator()(need::Cores) const {
    return ": use fewer ranks or --threads, give mpirun --bind-to none, or accept shared cores "
           "with --oversubscribe";
  }

  std::string operator()(need::DevicesPerNode) const {
    return ", or give --devices-per-node the number that there are";
  }

  std::string operator()(need::FailedOperator) const {
    return ": --blocking says which of these failed";
  }

  std::string operator()(const need::WithoutAlgorithms& need) const {
    return ", or leave it out with --without-algorithms " + shell_word(joined(need.names, ";"));
  }

  std::string operator()(const need::Gpu& need) const {
    return "; use --backend " + need.instead + " on machines without a GPU";
  }

  std::string operator()(need::OnnxReader) const {
    return "; give a built-in network or a hios-model file, or build again with: " +
           build_command("release", "-DHIOS_ONNX=ON");
  }

  std::string operator()(need::Hwloc) const {
    return "; build again with: apt-get install libhwloc-dev && " +
           build_command("release", "-DHIOS_HWLOC=ON");
  }

  std::string operator()(need::OnnxWriter) const {
    return "; build again with: " + build_command("release", "-DHIOS_ONNX=ON");
  }

  std::string operator()(const need::OpenDimensions&) const {
    return "; give each of them with --dim NAME=N";
  }

  std::string operator()(need::LargerInput) const {
    return "; raise --max-input if it is really meant";
  }

  std::string operator()(need::OtherRoute) const {
    return " (--transport auto takes another route)";
  }

  std::string operator()(need::MatchingLauncher) const {
    return "; use the mpirun of this MPI, or srun --mpi=pmix";
  }

  std::string operator()(need::BackendPerRank) const {
    return ": give --backend one name for all, or one a rank";
  }

  std::string operator()(const need::SameMerge& need) const {
    if (need.merge == "none") return ": leave --merge out, or schedule again with it";
    return ": give --merge " + need.merge +
           (need.merge == "siblings" ? ", or schedule again without" : ", or schedule again");
  }

  std::string operator()(need::MpiInBuild) const {
    return "; start one process, or build with: " + build_command("release", "-DHIOS_MPI=ON");
  }

  std::string operator()(need::Replacement) const { return " or replace it with --force"; }

  std::string operator()(const need::DeviceIdentity&) const {
    return ": name it as \"gpu\" in a --platform";
  }

  std::string operator()(need::Ranks need) const {
    return ": start it with: " + start_again_command(here, need.ranks);
  }

  std::string operator()(need::ScheduleOfGraph) const { return ", or schedule it again"; }

  std::string operator()(need::AllFindings) const {
    const std::string schedule = here.value_of("schedule").value_or("SCHEDULE");
    return "; list them with: " + start_command(here, 1, "hios-schedule",
                                                "--check " + shell_word(schedule) +
                                                    (model_flags.empty() ? "" : " ") + model_flags);
  }

  std::string operator()(const need::DeviceKind& need) const {
    return ": " +
           (need.backends.empty() ? "choose another --backend"
                                  : "start it with --backend " + joined(need.backends, ",")) +
           ", or schedule for --kind " + need.kind;
  }

  std::string operator()(need::DeviceMemory need) const {
    const std::string more = ": schedule for more devices, or for more memory";
    if (!need.chosen_algorithms) return more;
    return more + ", or leave out --profile where its algorithms hold more than direct ones";
  }

  std::string operator()(need::HostMemory need) const {
    std::string words = ": take a smaller input (--batch, --height, --width, --dim)";
    if (need.many_inferences) words += ", fewer --in-flight, --distinct-inputs or --copies";
    if (need.several_ranks) words += ", fewer ranks on this host";
    return words + (need.own_limit ? ", or raise the limit" : ", or more hosts");
  }

  std::string operator()(need::ScheduledPrecision) const {
    return ": choose another --backend, or schedule again with another --math";
  }

  std::string operator()(const need::ChosenPrecision& need) const {
    std::string words = ": choose --math " + joined(need.maths, ", ");
    for (const std::string& name : need.backends) words += " or --backend " + name;
    return words;
  }

  std::string operator()(need::IdentifiedDevices) const {
    return ": start the job where GPUs and libraries are alike, or schedule for a --platform whose "
           "devices name theirs as \"gpu\"";
  }
};

}  // namespace

std::string measurement_command(const need::Measurement& need, const std::string& model_flags,
                                const Invocation& here) {
  const MeasuredDevice& device = need.devices[need.device];
  std::string flags = model_flags.empty() ? "--model " + shell_word(need.model) : model_flags;
  const std::string backends = backends_for(need);
  if (!backends.empty()) flags += " --backend " + backends;
  int threads = device.threads, on_host = 0;
  for (const MeasuredDevice& each : need.devices) {
    if (!need.alike) threads = std::max(threads, each.threads);
    on_host += each.threads;
  }
  if (threads > 0) flags += " --threads " + std::to_string(threads);
  if (!here.slurm && static_cast<std::size_t>(on_host) > here.cores) flags += " --oversubscribe";
  if (!in_fp32(device)) flags += " --math " + device.math;
  // A command cannot add to a stream.
  const std::string profile = is_standard_input(need.profile) ? "profile.json" : need.profile;
  flags += " --output " + shell_word(profile) + " --update";
  return start_command(here, need.devices.size(), "hios-profile", flags);
}

std::string error_line(const Error& error, const std::string& model_flags) {
  return error_line(error, model_flags, invocation());
}

std::string error_line(const Error& error, const std::string& model_flags, const Invocation& here) {
  return error.what() + std::visit(Remedy{model_flags, here}, error.need());
}

void warn_of_unsettled(const std::string& unsettled) {
  if (unsettled.empty() || !is_new(unsettled)) return;
  log::warning(unsettled +
               ": plans by it may be off; measure again with hios-profile, into a new file, when "
               "the machine does nothing else");
}

void warn_of_elsewhere(const std::string& differences) {
  if (differences.empty() || !is_new(differences)) return;
  log::lasting_warning(differences +
                       ": plans and predictions by it hold for that, not for this; measure again "
                       "with hios-profile, into a new file");
}

void warn_of(const std::vector<job::HostWarning>& warnings) {
  for (const job::HostWarning& warning : warnings)
    log::warning(error_line(RunError(warning.text, warning.need)));
}

}  // namespace hios::cli
