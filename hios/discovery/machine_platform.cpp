#include "hios/discovery/machine_platform.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "hios/base/error.h"

// Each way from a store or a device to a device is a list of hops: memory, links and cables, one
// direction each. Hops over which exactly the same ways lead limit each other only by the slowest
// of them, so that one bus stands for them: a root port and the only card below it, for example.
// tests/hios/discovery/machine_platform_test.cpp, and recorded machines in
// tests/engine/discovery/recorded_machines_test.cpp.

namespace hios::discovery {
namespace {

std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// Something with one bandwidth that ways lead over.
struct Hop {
  std::string name;
  double gb_per_s = 0;
  std::string assumed;  ///< the words of its bandwidth; empty: it was reported
  std::set<std::size_t> ways = {};
};

struct Way {
  Holder from;
  DeviceId to;
  std::vector<std::size_t> hops;
  double latency_ms = 0;
  std::vector<std::string> assumed = {};
  std::optional<double> gb_per_s = {};  ///< a limit of its own
};

std::string assumption(const std::string& what, double value, const char* unit) {
  return what + ": " + number_text(value) + " " + unit;
}

/// The hops of a machine, and the ways over them.
class Map {
 public:
  explicit Map(const Machine& machine) : machine_(machine) {}

  std::size_t memory(std::size_t node) {
    return hop(memory_name(node) + "-read", machine_.nodes[node].gb_per_s, kMemoryGbPerS,
               "reading the memory of a NUMA node");
  }
  std::size_t disk(const Disk& disk) {
    const bool nvme = disk.name.starts_with("nvme");
    return hop(disk.name + "-read", {}, nvme ? kNvmeGbPerS : kDiskGbPerS,
               nvme ? "reading an NVMe disk" : "reading another disk");
  }
  /// Returns the hops from one package to another; none within a package.
  std::vector<std::size_t> between(std::size_t from_node, std::size_t to_node) {
    const std::size_t from = machine_.nodes[from_node].package;
    const std::size_t to = machine_.nodes[to_node].package;
    if (from == to) return {};
    return {hop("package-" + std::to_string(from) + "-" + std::to_string(to), {}, kPackageGbPerS,
                "from one processor package to another")};
  }
  /// Returns the links between the root and a link, from the root down.
  std::vector<std::size_t> chain(std::size_t link) const {
    std::vector<std::size_t> links = {link};
    while (machine_.links[links.back()].above) links.push_back(*machine_.links[links.back()].above);
    std::ranges::reverse(links);
    return links;
  }
  std::size_t pci(std::size_t link, const char* direction) {
    const PciLink& pci = machine_.links[link];
    return hop("pcie-" + pci.address + direction, pci.gb_per_s, kPciGbPerS, "a PCIe link");
  }
  std::size_t cable(const std::string& name, double gb_per_s) {
    const double possible = std::min(gb_per_s, kMaxGbPerS);  // a sum of cables may exceed it
    return hop(name, possible, possible, "");
  }
  void add(Way way) {
    for (const std::size_t hop : way.hops) hops_[hop].ways.insert(ways_.size());
    ways_.push_back(std::move(way));
  }

  std::string memory_name(std::size_t node) const {
    return machine_.nodes.size() == 1 ? "dram" : "dram" + std::to_string(node);
  }
  const Machine& machine() const { return machine_; }
  Described describe(std::vector<Device> devices, std::vector<Store> stores);

 private:
  std::size_t hop(const std::string& name, std::optional<double> reported, double assumed,
                  const char* what) {
    const auto [found, is_new] = by_name_.emplace(name, hops_.size());
    if (is_new) {
      hops_.push_back(
          {name, reported.value_or(assumed), reported ? "" : assumption(what, assumed, "GB/s")});
    }
    return found->second;
  }

  const Machine& machine_;
  std::vector<Hop> hops_;
  std::vector<Way> ways_;
  std::map<std::string, std::size_t> by_name_;
};

/// Returns the platform of the ways so far. One bus stands for all hops of the same ways.
Described Map::describe(std::vector<Device> devices, std::vector<Store> stores) {
  std::map<std::set<std::size_t>, std::size_t> slowest;
  for (std::size_t h = 0; h < hops_.size(); ++h) {
    const auto [found, is_new] = slowest.emplace(hops_[h].ways, h);
    if (!is_new && hops_[h].gb_per_s < hops_[found->second].gb_per_s) found->second = h;
  }
  std::vector<Bus> buses;
  std::map<std::size_t, BusId> bus_of;
  std::vector<Route> routes;
  std::vector<std::vector<std::string>> assumed;
  for (Way& way : ways_) {
    Route route{.from = way.from, .to = way.to, .over = {}, .latency_ms = way.latency_ms};
    for (const std::size_t hop : way.hops) {
      if (!hops_[hop].assumed.empty()) way.assumed.push_back(hops_[hop].assumed);
      const std::size_t standing = slowest.at(hops_[hop].ways);
      const auto [found, is_new] = bus_of.emplace(standing, BusId(buses.size()));
      if (is_new) buses.push_back({hops_[standing].name, hops_[standing].gb_per_s});
      if (std::ranges::find(route.over, found->second) == route.over.end())
        route.over.push_back(found->second);
      const double limit = way.gb_per_s.value_or(hops_[standing].gb_per_s);
      way.gb_per_s = std::min(limit, hops_[standing].gb_per_s);
    }
    route.gb_per_s = way.gb_per_s.value_or(kCopyGbPerS);
    routes.push_back(std::move(route));
    assumed.push_back(std::move(way.assumed));
  }
  std::vector<std::string> of_devices;
  for (const Device& device : devices) {
    if (device.kind == kGpuKind && device.memory_bytes == 0)
      of_devices.push_back("memory of " + device.name + ": no limit");
  }
  return {Platform(std::move(devices), std::move(stores), std::move(buses), std::move(routes)),
          std::move(assumed), std::move(of_devices)};
}

void append(std::vector<std::size_t>& hops, const std::vector<std::size_t>& more) {
  hops.insert(hops.end(), more.begin(), more.end());
}

/// Returns the hops of a disk's bytes to the memory of its node.
std::vector<std::size_t> to_memory(Map& map, const Disk& disk) {
  std::vector<std::size_t> hops = {map.disk(disk)};
  if (!disk.link) return hops;
  const std::vector<std::size_t> down = map.chain(*disk.link);
  for (auto link = down.rbegin(); link != down.rend(); ++link)
    hops.push_back(map.pci(*link, "-up"));
  return hops;
}

/// Returns the hops from memory of a node to a GPU.
std::vector<std::size_t> to_gpu(Map& map, std::size_t node, const Gpu& gpu) {
  std::vector<std::size_t> hops = {map.memory(node)};
  const std::vector<std::size_t> down = map.chain(gpu.link);
  append(hops, map.between(node, map.machine().links[down.front()].node));
  for (const std::size_t link : down) hops.push_back(map.pci(link, "-down"));
  return hops;
}

/// Returns the NVLinks' bandwidth from one GPU to another; 0: there are none.
double direct_gb_per_s(const Machine& machine, std::size_t from, std::size_t to) {
  double sum = 0;
  for (const NvLink& link : machine.nvlinks) {
    if (link.from == from && link.to == to) sum += link.gb_per_s;
  }
  return sum;
}

double switch_gb_per_s(const Machine& machine, std::size_t gpu) {
  double sum = 0;
  for (const NvSwitchPort& port : machine.nvswitch_ports) {
    if (port.gpu == gpu) sum += port.gb_per_s;
  }
  return sum;
}

/// Returns the hops between two GPUs: NVLinks between them, else NVSwitches, else PCIe, from the
/// one up to where their chains meet, and down to the other.
std::vector<std::size_t> between_gpus(Map& map, std::size_t from, std::size_t to) {
  const Machine& machine = map.machine();
  const std::string a = std::to_string(from), b = std::to_string(to);
  if (const double direct = direct_gb_per_s(machine, from, to); direct > 0)
    return {map.cable("nvlink-" + a + "-" + b, direct)};
  const double out = switch_gb_per_s(machine, from), in = switch_gb_per_s(machine, to);
  if (out > 0 && in > 0)
    return {map.cable("nvswitch-" + a + "-out", out), map.cable("nvswitch-" + b + "-in", in)};

  const auto up = map.chain(machine.gpus[from].link), down = map.chain(machine.gpus[to].link);
  // Two functions of one card share the last link, too: it stays part of the way.
  std::size_t common = 0;
  while (common + 1 < std::min(up.size(), down.size()) && up[common] == down[common]) ++common;
  std::vector<std::size_t> hops;
  for (std::size_t i = up.size(); i > common; --i) hops.push_back(map.pci(up[i - 1], "-up"));
  if (common == 0)
    append(hops, map.between(machine.links[up[0]].node, machine.links[down[0]].node));
  for (std::size_t i = common; i < down.size(); ++i) hops.push_back(map.pci(down[i], "-down"));
  return hops;
}

std::vector<Device> gpu_devices(const Machine& machine) {
  std::vector<Device> devices;
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const Gpu& gpu = machine.gpus[g];
    devices.push_back({.name = "gpu" + std::to_string(g),
                       .kind = std::string(kGpuKind),
                       .threads = 0,
                       .memory_bytes = gpu.memory_bytes,
                       .host = machine.host,
                       .identity = gpu.model});
  }
  return devices;
}

const std::string kMemoryLatency =
    assumption("latency of a load from memory, and of a message", kMemoryLatencyMs, "ms");
const std::string kDiskLatency = assumption("latency of a load from a disk", kDiskLatencyMs, "ms");
const std::string kCopy = assumption("a copy by a rank's cores", kCopyGbPerS, "GB/s");

void add_gpu_ways(Map& map) {
  const Machine& machine = map.machine();
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const DeviceId to(g);
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) {
      map.add(
          {StoreId(n), to, to_gpu(map, n, machine.gpus[g]), kMemoryLatencyMs, {kMemoryLatency}});
    }
    for (std::size_t d = 0; d < machine.disks.size(); ++d) {
      const Disk& disk = machine.disks[d];
      std::vector<std::size_t> hops = to_memory(map, disk);
      append(hops, to_gpu(map, disk.node, machine.gpus[g]));
      map.add(
          {StoreId(machine.nodes.size() + d), to, std::move(hops), kDiskLatencyMs, {kDiskLatency}});
    }
    for (std::size_t from = 0; from < machine.gpus.size(); ++from) {
      if (from == g) continue;
      map.add({DeviceId(from), to, between_gpus(map, from, g), kMemoryLatencyMs, {kMemoryLatency}});
    }
  }
}

/// Adds the ways to ranks that compute on cores. All bytes are read from the memory of a node by
/// the cores of the rank, or from a disk into the rank's memory.
void add_cpu_ways(Map& map, const std::vector<CpuRank>& ranks) {
  const Machine& machine = map.machine();
  const auto copy = [&](const Holder& from, std::size_t from_node, std::size_t to) {
    std::vector<std::size_t> hops = {map.memory(from_node)};
    append(hops, map.between(from_node, ranks[to].node));
    map.add({from,
             DeviceId(to),
             std::move(hops),
             kMemoryLatencyMs,
             {kMemoryLatency, kCopy},
             kCopyGbPerS});
  };
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t n = 0; n < machine.nodes.size(); ++n) copy(StoreId(n), n, r);
    for (std::size_t d = 0; d < machine.disks.size(); ++d) {
      std::vector<std::size_t> hops = to_memory(map, machine.disks[d]);
      append(hops, map.between(machine.disks[d].node, ranks[r].node));
      map.add({StoreId(machine.nodes.size() + d),
               DeviceId(r),
               std::move(hops),
               kDiskLatencyMs,
               {kDiskLatency}});
    }
    for (std::size_t from = 0; from < ranks.size(); ++from) {
      if (from != r) copy(DeviceId(from), ranks[from].node, r);
    }
  }
}

}  // namespace

std::vector<std::size_t> nodes_of_cores(const Machine& machine,
                                        const std::vector<std::vector<int>>& cores) {
  std::vector<std::size_t> nodes;
  for (const std::vector<int>& of_rank : cores) {
    const auto found = std::ranges::find_if(machine.nodes, [&](const MemoryNode& node) {
      return !of_rank.empty() && std::ranges::binary_search(node.cores, of_rank.front());
    });
    nodes.push_back(found == machine.nodes.end() ? 0 : found - machine.nodes.begin());
  }
  return nodes;
}

std::vector<std::vector<int>> cores_of_ranks(const Machine& machine, const std::string& file,
                                             std::size_t ranks, int threads) {
  std::vector<int> all;
  for (const MemoryNode& node : machine.nodes)
    all.insert(all.end(), node.cores.begin(), node.cores.end());
  std::ranges::sort(all);
  const std::size_t of_rank = static_cast<std::size_t>(threads);
  if (all.size() < ranks * of_rank) {
    throw InputError(file + ": the machine has no GPU that can compute, and " +
                     std::to_string(all.size()) + " cores, fewer than " + std::to_string(ranks) +
                     " ranks of " + std::to_string(threads) + " threads need: use fewer");
  }
  std::vector<std::vector<int>> cores;
  for (std::size_t r = 0; r < ranks; ++r)
    cores.emplace_back(all.begin() + r * of_rank, all.begin() + (r + 1) * of_rank);
  return cores;
}

Described platform_of(const Machine& machine, const std::vector<CpuRank>& ranks) {
  if (machine.gpus.empty() && ranks.empty())
    throw InputError("the machine has no GPU that can compute, and there are no ranks on cores");
  Map map(machine);
  std::vector<Store> stores;
  for (std::size_t n = 0; n < machine.nodes.size(); ++n)
    stores.push_back({map.memory_name(n), machine.host, StoreKind::kMemory});
  for (const Disk& disk : machine.disks)
    stores.push_back({disk.name, machine.host, StoreKind::kDisk});
  std::vector<Device> devices = gpu_devices(machine);
  if (devices.empty()) {
    for (const CpuRank& rank : ranks) devices.push_back(rank.device);
    add_cpu_ways(map, ranks);
  } else {
    add_gpu_ways(map);
  }
  return map.describe(std::move(devices), std::move(stores));
}

std::vector<std::string> all_assumed(const Described& described) {
  std::vector<std::string> all = described.assumed_of_devices;
  for (const std::vector<std::string>& of_route : described.assumed) {
    for (const std::string& text : of_route) {
      if (std::ranges::find(all, text) == all.end()) all.push_back(text);
    }
  }
  return all;
}

}  // namespace hios::discovery
