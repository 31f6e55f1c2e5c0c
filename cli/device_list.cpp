#include "cli/device_list.h"

#include <nlohmann/json.hpp>

#include "cli/flags/rank_flags.h"
#include "cli/process/output.h"
#include "cli/remedies.h"
#include "cli/table.h"
#include "engine/discovery/gpu_links.h"
#include "engine/job/profile_job.h"
#include "engine/job/ranks/surroundings.h"
#include "engine/job/ranks/tensor_transport.h"
#include "hios/platform/platform.h"
#include "mpi/session/agreement.h"

namespace hios::cli {
namespace {

/// Returns the name of the rank's GPU, or of its processor.
std::string device_text(const job::RankSurroundings& rank) {
  return rank.description->value("gpu", rank.facts.processor);
}

std::string gigabytes(const std::optional<Bytes>& size_bytes) {
  return size_bytes ? fixed(static_cast<double>(*size_bytes) / 1e9, 1) : "-";
}

Table table_of(const std::vector<job::RankSurroundings>& ranks,
               const std::vector<discovery::GpuPlace>& places) {
  Table table({"rank", "host", "backend", "cores", "free GB", "library", "device", "bus", "NUMA"});
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const job::RankSurroundings& rank = ranks[r];
    const discovery::GpuPlace place = places.empty() ? discovery::GpuPlace{} : places[r];
    table.add({std::to_string(r), rank.host, rank.backend, cores_text(rank.pinned),
               gigabytes(rank.memory), rank.description->value("library", "-"), device_text(rank),
               place.address.empty() ? "-" : place.address,
               place.numa_node ? std::to_string(*place.numa_node) : "-"});
  }
  return table;
}

Json to_json(const std::vector<job::RankSurroundings>& ranks) {
  Json list = Json::array();
  for (const job::RankSurroundings& rank : ranks) {
    list.push_back({{"host", rank.host},
                    {"kernel", rank.facts.kernel},
                    {"processor", rank.facts.processor},
                    {"backend", rank.backend},
                    {"description", rank.description},
                    {"threads", rank.threads},
                    {"cores", rank.pinned},
                    {"cores_allowed", rank.facts.cores},
                    {"free_bytes", rank.memory ? Json(*rank.memory) : Json(nullptr)},
                    {"transfer_path", rank.path}});
  }
  return {{"ranks", std::move(list)}};
}

/// Returns the devices that hios-profile would take; a schedule may need more threads.
std::vector<job::RankDevice> devices_of(const Flags& flags, std::size_t ranks) {
  job::ProfileOptions options;
  options.ranks = read_rank_options(flags, ranks);
  options.threads = static_cast<int>(flags.optional_integer("threads", 1, 4096).value_or(1));
  options.precision = read_math(flags).value_or(Precision::kFp32);
  return job::devices_of_ranks(options, ranks);
}

}  // namespace

std::string cores_text(const std::vector<int>& cores) {
  if (cores.empty()) return "not pinned";
  std::string text;
  for (const int core : cores) text += (text.empty() ? "" : ",") + std::to_string(core);
  return text;
}

int list_devices(const Flags& flags, mpi::Transport& transport) {
  const bool first = transport.rank() == Rank(0);
  const Common common = mpi::agreed(transport, [&] { return read_common(flags, !first); });
  const auto devices = mpi::agreed(transport, [&] { return devices_of(flags, transport.size()); });
  const job::RankBackend mine =
      job::make_rank_backend(transport, read_rank_options(flags, transport.size()), devices);
  const job::TensorTransport tensors(transport, *mine.backend, read_route(flags));
  const auto ranks = job::gather_surroundings(tensors.get(), mine);
  if (!first) return 0;
  const Table table = table_of(ranks, tensors.places());
  show(table.text(line_width()) + "\n" + tensors.get().path() + "\n" + tensors.table());
  warn_of(job::host_warnings(ranks));
  if (common.csv) write_text(*common.csv, table.csv(), common.existing);
  if (common.json) write_json(*common.json, to_json(ranks), common.existing);
  return 0;
}

}  // namespace hios::cli
