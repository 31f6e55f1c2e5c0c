#include "cli/device_setup.h"

#include <algorithm>
#include <map>

#include "engine/run/memory_estimate.h"
#include "hios/base/error.h"
#include "hios/base/log.h"
#include "hios/platform/platform.h"
#include "mpi/session/session.h"

namespace hios::cli {

namespace po = boost::program_options;

namespace {

constexpr const char* kDeviceKind = "gpu";

/// The flags that no backend on the CPU has a use for.
constexpr const char* kDeviceFlags[] = {"transport", "cuda-graphs", "devices-per-node",
                                        "allow-nondeterministic", "blocking"};

bool on_device(const std::string& backend) { return find_backend(backend).kind == kDeviceKind; }

bool read_switch(const Flags& flags, const std::string& flag, bool otherwise) {
  const auto word = flags.optional_text(flag);
  if (!word) return otherwise;
  if (*word != "on" && *word != "off") {
    throw InputError("--" + flag + " takes on or off, not '" + *word + "'");
  }
  return *word == "on";
}

/// "2, 3".
std::string listed(const std::vector<std::size_t>& ranks) {
  std::string text;
  for (const std::size_t rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

/// The ranks of each device, by its identity; those without one are left out.
std::map<std::string, std::vector<std::size_t>> ranks_by_device(mpi::Transport& transport,
                                                                Backend& backend) {
  mpi::Accelerator* const device = backend.accelerator();
  const auto identities = transport.all_gather(device ? device->identity() : "");
  std::map<std::string, std::vector<std::size_t>> ranks;
  for (std::size_t r = 0; r < identities.size(); ++r) {
    if (!identities[r].empty()) ranks[identities[r]].push_back(r);
  }
  return ranks;
}

}  // namespace

po::options_description device_flags() {
  po::options_description group("GPUs", 100, 45);
  group.add_options()("transport", value("NAME"),
                      "tensors between GPUs by: auto (default), ipc, cuda-aware or staged");
  group.add_options()("math", value("NAME"),
                      "arithmetic: fp32, tf32 or fp16 (profile: fp32; run: the schedule's)");
  group.add_options()("cuda-graphs", value("on|off"),
                      "record what runs between transfers as CUDA graphs (on)");
  group.add_options()("devices-per-node", value("N"),
                      "GPUs to share among the ranks of a host (one for each rank)");
  group.add_options()("allow-nondeterministic",
                      "also algorithms that give other bits each time they run");
  return group;
}

DeviceOptions read_device_options(const Flags& flags, const std::vector<std::string>& backends) {
  const bool any = std::any_of(backends.begin(), backends.end(), on_device);
  for (const char* flag : kDeviceFlags) {
    if (flags.given(flag) && !any) {
      throw InputError(std::string("--") + flag +
                       " is about GPUs, and no rank computes on one: leave it out, or choose "
                       "--backend cuda");
    }
  }
  DeviceOptions options;
  if (const auto path = flags.optional_text("transport"))
    options.transport = mpi::parse_route(*path);
  if (const auto precision = flags.optional_text("math"))
    options.precision = parse_precision(*precision);
  options.graphs = read_switch(flags, "cuda-graphs", options.graphs);
  if (const auto count = flags.optional_integer("devices-per-node", 0, 1024)) {
    options.devices_per_node = static_cast<std::size_t>(*count);
  }
  options.deterministic = !flags.given("allow-nondeterministic");
  options.blocking = flags.given("blocking");
  return options;
}

void require_precision(const BackendEntry& backend, Precision precision) {
  if (backend.has(precision)) return;
  std::string has, others;
  for (const Precision one : backend.precisions) {
    has += (has.empty() ? "" : ", ") + std::string(to_string(one));
  }
  for (const BackendEntry& other : backends()) {
    if (other.make && other.has(precision)) others += " or --backend " + std::string(other.name);
  }
  throw InputError("the " + std::string(backend.name) + " backend computes in " + has +
                   ", not in " + std::string(to_string(precision)) + ": choose --math " + has +
                   others);
}

std::vector<int> device_indices(const std::vector<std::string>& host_of,
                                const std::vector<bool>& wants_device, std::size_t per_node) {
  std::map<std::string, std::size_t> taken;
  std::vector<int> indices(host_of.size(), 0);
  for (std::size_t r = 0; r < host_of.size(); ++r) {
    if (!wants_device[r]) continue;
    const std::size_t turn = taken[host_of[r]]++;
    indices[r] = static_cast<int>(per_node == 0 ? turn : turn % per_node);
  }
  return indices;
}

BackendOptions backend_options(const DeviceOptions& options, mpi::Transport& transport,
                               const std::vector<std::string>& backends, Precision precision) {
  std::vector<bool> wants_device;
  for (const std::string& backend : backends) wants_device.push_back(on_device(backend));
  const auto hosts = transport.all_gather(transport.host());
  BackendOptions made;
  made.device_index =
      device_indices(hosts, wants_device, options.devices_per_node)[transport.rank().index()];
  made.precision = precision;
  made.graphs = options.graphs;
  made.deterministic = options.deterministic;
  return made;
}

TensorTransport::TensorTransport(mpi::Transport& plain, Backend& backend,
                                 const DeviceOptions& options)
    : plain_(plain) {
  const auto devices = ranks_by_device(plain, backend);
  if (devices.empty()) return;
  for (const auto& [identity, ranks] : devices) {
    if (ranks.size() == 1 || plain.rank() != Rank(0)) continue;
    log::warning("ranks " + listed(ranks) + " share one GPU (" + identity +
                 "): they slow each other down, so the times hold for this case only");
  }
  paths_ = mpi::choose_routes(
      plain, backend.accelerator(),
      {.cuda_aware_mpi = mpi::mpi_says_cuda_aware(), .forced = options.transport});
  wrapped_ = mpi::make_device_transport(plain, backend.accelerator(), *paths_);
}

std::optional<Json> TensorTransport::json() const {
  if (!paths_) return std::nullopt;
  Json by_pair = Json::array(), why_not = Json::array();
  for (std::size_t from = 0; from < paths_->ranks; ++from) {
    Json ways = Json::array(), reasons = Json::array();
    for (std::size_t to = 0; to < paths_->ranks; ++to) {
      const std::size_t pair = from * paths_->ranks + to;
      ways.push_back(from == to ? "-" : std::string(mpi::name(paths_->by_pair[pair])));
      reasons.push_back(paths_->why_not.empty() ? "" : paths_->why_not[pair]);
    }
    by_pair.push_back(std::move(ways));
    why_not.push_back(std::move(reasons));
  }
  return Json{{"by_pair", std::move(by_pair)}, {"why_not", std::move(why_not)}};
}

void agree_on_memory(mpi::Transport& transport, Backend& backend, const CoarseGraph& coarse,
                     const Model& model, const RankPlan& plan) {
  const auto devices = ranks_by_device(transport, backend);
  const MemoryEstimate mine = estimate_memory(coarse, model, plan);
  const auto needs = transport.all_gather(Json{mine.tensors, mine.input, mine.parameters}.dump());
  std::string complaint;
  const auto free = backend.free_memory();
  if (backend.accelerator() && free) {
    const auto& sharers = devices.at(backend.accelerator()->identity());
    MemoryEstimate sum;
    for (const std::size_t rank : sharers) {
      const Json need = parse_json(needs[rank], "what a rank needs");
      sum.tensors += need[0].get<Bytes>();
      sum.input += need[1].get<Bytes>();
      sum.parameters += need[2].get<Bytes>();
    }
    try {
      require_device_memory(sum, *free,
                            (sharers.size() == 1 ? "rank " : "ranks ") + listed(sharers));
    } catch (const InputError& error) {
      complaint = error.what();
    }
  }
  mpi::agree_on_input(transport, complaint);
}

}  // namespace hios::cli
