#include "cli/remedies.h"

#include <algorithm>
#include <array>
#include <map>

#include "cli/flags.h"
#include "hios/base/log.h"
#include "hios/platform/cpu_kinds.h"
#include "hios/platform/platform.h"

namespace hios::cli {
namespace {

/// A Need's details, and what the program knows beside them.
struct Given {
  const std::map<std::string, std::string>& details;
  const std::string& model_flags;

  const std::string& detail(const char* name) const { return details.at(name); }
};

/// The backend that measures such a device: on cores only the reference backend has more than fp32.
std::string backend_for(const Device& device) {
  if (device.kind == kGpuKind) return "cuda";
  if (const InstructionCap* const cap = cap_of_kind(device.kind)) {
    return std::string(kCpuKind) + ":" + std::string(cap->name);
  }
  return device.kind == kCpuKind && device.precision != Precision::kFp32 ? "reference"
                                                                         : device.kind;
}

/// Empty where hios-profile finds the backends by itself.
std::string backends_for(const Platform& platform, const Device& device) {
  if (platform.alike()) return backend_for(device) == device.kind ? "" : backend_for(device);
  std::string backends;
  for (const Device& each : platform.devices()) {
    backends += (backends.empty() ? "" : ",") + backend_for(each);
  }
  return backends;
}

/// The hios-profile command that measures one device of a platform into the file that lacks it.
std::string measurement(const Given& given) {
  const std::string& text = given.detail("platform");
  const Json json = parse_json(text, "platform", {.max_bytes = text.size()});
  const Platform platform = platform_from_json(JsonView(json, "platform"));
  const Device& device = platform.device(platform.find(given.detail("device")).value());
  std::string command =
      "; measure it with: mpirun -np " + std::to_string(platform.size()) + " hios-profile ";
  command += given.model_flags.empty() ? "--model " + given.detail("model") : given.model_flags;
  const std::string backends = backends_for(platform, device);
  if (!backends.empty()) command += " --backend " + backends;
  int threads = device.threads;
  if (!platform.alike()) {
    for (const Device& each : platform.devices()) threads = std::max(threads, each.threads);
  }
  if (threads > 0) command += " --threads " + std::to_string(threads);
  if (device.precision != Precision::kFp32) {
    command += " --math " + std::string(to_string(device.precision));
  }
  return command + " --output " + given.detail("profile") + " --update";
}

std::string or_instead(const Given& given) {
  return ", or use --backend " + given.detail("instead");
}

std::string build_for_gpu(const Given& given) {
  return "; build for it with cmake -DCMAKE_CUDA_ARCHITECTURES" + or_instead(given);
}

/// How a build comes to have a backend that it lacks.
std::string left_out_backend(const Given& given) {
  std::string words;
  if (given.detail("name") == "cpu") {
    words = "; install libdnnl-dev and build with cmake -DHIOS_CPU=ON";
  } else if (given.detail("name") == "cuda") {
    words = "; build with cmake --preset cuda where CUDA 13 and cuDNN 9 are installed";
  }
  return words + or_instead(given);
}

std::string other_backend(const Given&) { return "; choose another with --backend"; }

std::string other_gpu(const Given&) {
  return ": run it where that GPU is, or measure with hios-profile and schedule again here";
}

std::string alike_hosts(const Given&) {
  return ": times and plans of one are not those of the other; run on hosts that are alike";
}

std::string core_quota(const Given&) {
  return ": give the container or the job more cores, or use fewer ranks or --threads";
}

std::string cuda_aware(const Given&) {
  return ": start with a CUDA-aware MPI (scripts/build-openmpi-cuda.sh makes one)";
}

std::string governor(const Given&) {
  return ": set it by cpupower frequency-set -g performance while you measure";
}

std::string shared_cores(const Given&) {
  return ": use fewer ranks or --threads, or give mpirun --bind-to none";
}

std::string single_copy(const Given& given) {
  const std::string library = given.detail("library");
  const char* const variable = library.starts_with("MPICH") ? "MPIR_CVAR_CH4_CMA_ENABLE"
                               : library.starts_with("Open MPI 4.")
                                   ? "OMPI_MCA_btl_vader_single_copy_mechanism"
                                   : "OMPI_MCA_smsc";
  std::string words = ": leave " + std::string(variable) + " unset";
  if (!given.detail("ptrace_scope").empty())
    words += ", set kernel.yama.ptrace_scope to 0 (it is " + given.detail("ptrace_scope") + ")";
  return words + ", and give containers the right SYS_PTRACE";
}

std::string cores(const Given&) {
  return ": use fewer ranks or --threads, give mpirun --bind-to none, or accept shared cores with "
         "--oversubscribe";
}

std::string devices_per_node(const Given&) {
  return ", or give --devices-per-node the number that there are";
}

std::string failed_operator(const Given&) { return ": --blocking says which of these failed"; }

std::string gpu(const Given& given) {
  return "; use --backend " + given.detail("instead") + " on machines without a GPU";
}

std::string build_with_onnx(const Given&) {
  return "; build it anew with -DHIOS_ONNX=ON, or give a built-in network or a hios-model file";
}

std::string build_to_write_onnx(const Given&) { return "; build it anew with -DHIOS_ONNX=ON"; }

std::string open_dimensions(const Given&) { return "; give each of them with --dim NAME=N"; }

std::string larger_input(const Given&) { return "; raise --max-input if it is really meant"; }

std::string any_route(const Given&) { return " (--transport auto takes another route)"; }

std::string matching_launcher(const Given&) {
  return "; use the mpirun of this MPI, or srun --mpi=pmix";
}

std::string one_backend_a_rank(const Given&) {
  return ": give --backend one name for all, or one a rank";
}

std::string merge(const Given& given) {
  return given.detail("merge") == "none" ? ": leave --merge out, or schedule again with it"
                                         : ": give --merge siblings, or schedule again without";
}

std::string mpi_or_one_rank(const Given&) {
  return "; start one process, or build with cmake -DHIOS_MPI=ON";
}

std::string replacement(const Given&) { return " or replace it with --force"; }

std::string device_name(const Given&) { return ": name it as \"gpu\" in a --platform"; }

std::string ranks(const Given& given) {
  return ": start it with mpirun -np " + given.detail("ranks");
}

std::string check(const Given&) { return "; hios-schedule --check lists them"; }

std::string device_kind(const Given& given) {
  const std::string& backends = given.detail("backends");
  return ": " +
         (backends.empty() ? "choose another --backend" : "start it with --backend " + backends) +
         ", or schedule for --kind " + given.detail("kind");
}

std::string device_memory(const Given& given) {
  const std::string more = ": schedule for more devices, or for more memory";
  if (given.detail("algorithms").empty()) return more;
  return more + ", or leave out --profile where its algorithms hold more than direct ones";
}

std::string device_precision(const Given&) {
  return ": choose another --backend, or schedule again with another --math";
}

std::string precision(const Given& given) {
  std::string words = ": choose --math " + given.detail("has");
  if (given.detail("backends").empty()) return words;
  for (const std::string& name : split(given.detail("backends"), ','))
    words += " or --backend " + name.substr(name.find_first_not_of(' '));
  return words;
}

std::string named_devices(const Given&) {
  return ": start the job where GPUs and libraries are alike, or schedule for a --platform whose "
         "devices name theirs as \"gpu\"";
}

/// A kind of Need, and what follows the text of an error that has it.
struct Remedy {
  std::string_view kind;
  std::string (*words)(const Given&);
};

constexpr std::array kRemedies = {
    Remedy{"alike-hosts", alike_hosts},
    Remedy{"any-route", any_route},
    Remedy{"build-for-gpu", build_for_gpu},
    Remedy{"build-to-write-onnx", build_to_write_onnx},
    Remedy{"build-with-onnx", build_with_onnx},
    Remedy{"check", check},
    Remedy{"core-quota", core_quota},
    Remedy{"cores", cores},
    Remedy{"cuda-aware", cuda_aware},
    Remedy{"device-kind", device_kind},
    Remedy{"device-memory", device_memory},
    Remedy{"device-name", device_name},
    Remedy{"device-precision", device_precision},
    Remedy{"devices-per-node", devices_per_node},
    Remedy{"failed-operator", failed_operator},
    Remedy{"governor", governor},
    Remedy{"gpu", gpu},
    Remedy{"larger-input", larger_input},
    Remedy{"left-out-backend", left_out_backend},
    Remedy{"matching-launcher", matching_launcher},
    Remedy{"measurement", measurement},
    Remedy{"merge", merge},
    Remedy{"mpi-or-one-rank", mpi_or_one_rank},
    Remedy{"named-devices", named_devices},
    Remedy{"one-backend-a-rank", one_backend_a_rank},
    Remedy{"open-dimensions", open_dimensions},
    Remedy{"other-backend", other_backend},
    Remedy{"other-gpu", other_gpu},
    Remedy{"precision", precision},
    Remedy{"ranks", ranks},
    Remedy{"replacement", replacement},
    Remedy{"shared-cores", shared_cores},
    Remedy{"single-copy", single_copy},
};

const Remedy* find_remedy(std::string_view kind) {
  const auto found = std::find_if(kRemedies.begin(), kRemedies.end(),
                                  [&](const Remedy& remedy) { return remedy.kind == kind; });
  return found == kRemedies.end() ? nullptr : &*found;
}

}  // namespace

std::string error_line(const Error& error, const std::string& model_flags) {
  const Remedy* const remedy = find_remedy(error.need().kind);
  if (!remedy) return error.what();
  return error.what() + remedy->words({error.need().details, model_flags});
}

void warn_of_unsettled(const std::string& unsettled) {
  if (unsettled.empty()) return;
  log::warning(unsettled +
               ": plans by it may be off; measure again with hios-profile, into a new file, when "
               "the machine does nothing else");
}

void warn_of_troubles(const std::vector<job::Trouble>& troubles) {
  for (const job::Trouble& trouble : troubles)
    log::warning(error_line(RunError(trouble.text, trouble.need)));
}

bool has_remedy(std::string_view kind) { return find_remedy(kind) != nullptr; }

}  // namespace hios::cli
