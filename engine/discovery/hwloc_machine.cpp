#include "engine/discovery/hwloc_machine.h"

#include <hwloc.h>
#include <hwloc/distances.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "hios/base/error.h"
#include "hios/platform/platform.h"

// hwloc's tree becomes the lists of a Machine. In hwloc a PCIe object, a bridge or a device, has
// the speed of one link: a port below which a card or a switch stands, that of the link to it; a
// card or the upper port of a switch, that of the link above. So most links are there twice, as a
// port and as the only thing below it, and machine_platform.cpp makes them one bus.
//
// An XML may say anything: every link of it that hwloc accepts is read, and speeds that no platform
// can have, 0 among them, are not reported. tests/engine/discovery/recorded_machines_test.cpp

namespace hios::discovery {
namespace {

constexpr unsigned kNvidia = 0x10de;
constexpr unsigned kDisplayClass = 0x03;
constexpr double kKibibyte = 1024;
constexpr int kMostCores = 65536;

using PciAttributes = decltype(hwloc_obj_attr_u::pcidev);

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<hwloc_topology, DestroyTopology>;

std::string info(hwloc_obj_t object, const char* key) {
  const char* const text = hwloc_obj_get_info_by_name(object, key);
  return text == nullptr ? "" : text;
}

/// Returns a PCIe object's attributes: a device's own, or those of a bridge's upper side; null: it
/// has none (the host's bridge).
const PciAttributes* pci_of(hwloc_obj_t object) {
  if (object->type == HWLOC_OBJ_PCI_DEVICE) return &object->attr->pcidev;
  const bool bridge = object->type == HWLOC_OBJ_BRIDGE &&
                      object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
  return bridge ? &object->attr->bridge.upstream.pci : nullptr;
}

/// Returns a speed that a platform can have; nothing for others: 0, infinity, NaN.
std::optional<double> speed_of(double gb_per_s) {
  const bool possible = gb_per_s >= kMinGbPerS && gb_per_s <= kMaxGbPerS;
  return possible ? std::optional(gb_per_s) : std::nullopt;
}

std::string address_of(const PciAttributes& pci) {
  return pci_address(pci.domain, pci.bus, pci.dev, pci.func);
}

/// A reader of one topology.
class MachineReader {
 public:
  explicit MachineReader(hwloc_topology_t topology) : topology_(topology) {}

  Machine read() {
    machine_.host = info(hwloc_get_root_obj(topology_), "HostName");
    read_nodes();
    read_gpus();
    read_devices();
    read_nvlinks();
    return std::move(machine_);
  }

 private:
  void read_nodes();
  void leave_out_empty_nodes();
  void read_gpus();
  void read_devices();
  void read_nvlinks();
  void add_gpu(hwloc_obj_t device);
  std::optional<double> memory_gb_per_s(hwloc_obj_t node) const;
  std::size_t node_above(hwloc_obj_t object) const;
  std::optional<std::size_t> link_of(hwloc_obj_t object);
  std::optional<std::size_t> gpu_of(hwloc_obj_t object) const;

  hwloc_topology_t topology_;
  Machine machine_;
  std::map<hwloc_obj_t, std::size_t> links_;      // PCIe objects
  std::map<hwloc_obj_t, std::size_t> gpus_;       // PCIe devices
  std::map<unsigned, std::size_t> node_indices_;  // by the operating system's number
};

/// Returns the bandwidth of reading a node from its own cores, where the firmware or hwloc reports
/// it.
std::optional<double> MachineReader::memory_gb_per_s(hwloc_obj_t node) const {
  hwloc_location from{};
  from.type = HWLOC_LOCATION_TYPE_CPUSET;
  from.location.cpuset = node->cpuset;
  hwloc_uint64_t mib_per_s = 0;
  if (hwloc_memattr_get_value(topology_, HWLOC_MEMATTR_ID_BANDWIDTH, node, &from, 0, &mib_per_s) !=
      0)
    return std::nullopt;
  return speed_of(static_cast<double>(mib_per_s) * kKibibyte * kKibibyte / 1e9);
}

void MachineReader::read_nodes() {
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    MemoryNode found{.number = node->os_index,
                     .memory_bytes = static_cast<Bytes>(node->attr->numanode.local_memory)};
    const hwloc_obj_t package = hwloc_get_next_obj_covering_cpuset_by_type(
        topology_, node->cpuset, HWLOC_OBJ_PACKAGE, nullptr);
    if (package != nullptr) found.package = package->logical_index;
    for (int core = hwloc_bitmap_first(node->cpuset); core >= 0;
         core = hwloc_bitmap_next(node->cpuset, core))
      found.cores.push_back(core);
    found.gb_per_s = memory_gb_per_s(node);
    machine_.nodes.push_back(std::move(found));
  }
  leave_out_empty_nodes();
  for (std::size_t n = 0; n < machine_.nodes.size(); ++n)
    node_indices_.emplace(machine_.nodes[n].number, n);
}

/// Leaves out nodes without memory, which are no stores. Their cores go to the first node of their
/// package, or of all. Where no node says how much it has, all stay.
void MachineReader::leave_out_empty_nodes() {
  std::vector<MemoryNode> all = std::move(machine_.nodes);
  const auto is_empty = [](const MemoryNode& node) { return node.memory_bytes == 0; };
  machine_.nodes.clear();
  const bool none_says = std::ranges::all_of(all, is_empty);
  std::ranges::copy_if(all, std::back_inserter(machine_.nodes),
                       [&](const MemoryNode& node) { return none_says || !is_empty(node); });
  for (const MemoryNode& node : all) {
    if (none_says || !is_empty(node)) continue;
    auto heir = std::ranges::find(machine_.nodes, node.package, &MemoryNode::package);
    if (heir == machine_.nodes.end()) heir = machine_.nodes.begin();
    heir->cores.insert(heir->cores.end(), node.cores.begin(), node.cores.end());
    std::ranges::sort(heir->cores);
    heir->cores.erase(std::ranges::unique(heir->cores).begin(), heir->cores.end());
  }
}

/// Returns the node of an I/O object: the first of those next to the part of the machine that it
/// hangs below.
std::size_t MachineReader::node_above(hwloc_obj_t object) const {
  const hwloc_obj_t above = hwloc_get_non_io_ancestor_obj(topology_, object);
  if (above == nullptr || above->nodeset == nullptr) return 0;
  for (const auto& [number, index] : node_indices_) {
    if (hwloc_bitmap_isset(above->nodeset, number) != 0) return index;
  }
  return 0;
}

/// Returns the PCIe link of an object, or of the nearest above it that has one. Adds the links on
/// the way to the root.
std::optional<std::size_t> MachineReader::link_of(hwloc_obj_t object) {
  while (object != nullptr && pci_of(object) == nullptr) object = object->parent;
  if (object == nullptr) return std::nullopt;
  if (const auto known = links_.find(object); known != links_.end()) return known->second;
  const PciAttributes& pci = *pci_of(object);
  PciLink link{.address = address_of(pci), .above = link_of(object->parent)};
  link.node = link.above ? machine_.links[*link.above].node : node_above(object);
  link.gb_per_s = speed_of(pci.linkspeed);
  links_.emplace(object, machine_.links.size());
  machine_.links.push_back(std::move(link));
  return machine_.links.size() - 1;
}

void MachineReader::add_gpu(hwloc_obj_t device) {
  Gpu gpu{.model = "", .link = *link_of(device)};
  for (hwloc_obj_t part = device->io_first_child; part != nullptr; part = part->next_sibling) {
    if (gpu.model.empty()) gpu.model = info(part, "GPUModel");
    const std::string kibibytes = info(part, "CUDAGlobalMemorySize");
    if (!kibibytes.empty()) {
      const unsigned long long count = std::strtoull(kibibytes.c_str(), nullptr, 10);
      if (count < (1ULL << 40)) gpu.memory_bytes = static_cast<Bytes>(count * 1024);
    }
  }
  gpus_.emplace(device, machine_.gpus.size());
  machine_.gpus.push_back(std::move(gpu));
}

void MachineReader::read_gpus() {
  for (hwloc_obj_t device = nullptr;
       (device = hwloc_get_next_pcidev(topology_, device)) != nullptr;) {
    const PciAttributes& pci = device->attr->pcidev;
    if (pci.class_id >> 8 != kDisplayClass) continue;
    if (pci.vendor_id == kNvidia) {
      add_gpu(device);
    } else {
      const std::string name = info(device, "PCIDevice");
      machine_.other_gpus.push_back(name.empty() ? address_of(pci) : name);
    }
  }
}

void MachineReader::read_devices() {
  for (hwloc_obj_t device = nullptr;
       (device = hwloc_get_next_osdev(topology_, device)) != nullptr;) {
    const std::string name = device->name == nullptr ? "" : device->name;
    if (name.empty()) continue;
    const auto type = device->attr->osdev.type;
    if (type == HWLOC_OBJ_OSDEV_BLOCK && info(device, "Type") != "Removable Media Device") {
      const auto link = link_of(device);
      machine_.disks.push_back(
          {name, link, link ? machine_.links[*link].node : node_above(device)});
    } else if (type == HWLOC_OBJ_OSDEV_NETWORK) {
      machine_.adapters.push_back({name, link_of(device)});
    }
  }
}

/// Returns the GPU that an object of NVLink's matrix is, or is part of.
std::optional<std::size_t> MachineReader::gpu_of(hwloc_obj_t object) const {
  for (; object != nullptr; object = object->parent) {
    if (const auto found = gpus_.find(object); found != gpus_.end()) return found->second;
  }
  return std::nullopt;
}

/// Reads the matrix in which hwloc gives the bandwidths of NVLinks, in MB/s, between GPUs, and
/// between GPUs and NVSwitches.
void MachineReader::read_nvlinks() {
  unsigned count = 1;
  hwloc_distances_s* matrix = nullptr;
  if (hwloc_distances_get_by_name(topology_, "NVLinkBandwidth", &count, &matrix, 0) != 0 ||
      count == 0)
    return;
  for (unsigned from = 0; from < matrix->nbobjs; ++from) {
    const auto gpu = gpu_of(matrix->objs[from]);
    for (unsigned to = 0; gpu && to < matrix->nbobjs; ++to) {
      const hwloc_obj_t other = matrix->objs[to];
      const auto gb_per_s =
          speed_of(static_cast<double>(matrix->values[from * matrix->nbobjs + to]) / 1000);
      if (to == from || !gb_per_s) continue;
      const auto peer = gpu_of(other);
      if (peer && *peer != *gpu) machine_.nvlinks.push_back({*gpu, *peer, *gb_per_s});
      const bool is_switch =
          other->subtype != nullptr && std::string_view(other->subtype) == "NVSwitch";
      if (!peer && is_switch) machine_.nvswitch_ports.push_back({*gpu, *gb_per_s});
    }
  }
  hwloc_distances_release(topology_, matrix);
}

TopologyHandle new_topology() {
  setenv("HWLOC_HIDE_ERRORS", "2", 0);  // it prints what it thinks of an XML; a user may want that
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw RunError("hwloc cannot start");
  TopologyHandle handle(topology);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_ALL);
  return handle;
}

[[noreturn]] void throw_no_machine(const std::string& name) {
  throw InputError(name +
                   ": no machine that hwloc can read; give an XML that lstopo or hwloc 2 exported");
}

/// Throws InputError for a node whose cores cannot be counted: a set of cores may be infinite.
void require_countable_cores(hwloc_topology_t topology, const std::string& name) {
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    const int cores = hwloc_bitmap_weight(node->cpuset);
    if (cores < 0 || cores > kMostCores)
      throw InputError(name + ": a NUMA node has more than " + std::to_string(kMostCores) +
                       " cores; export the machine again");
  }
}

Machine read_machine(const std::string& xml, const std::string& name) {
  const TopologyHandle topology = new_topology();
  const bool read = hwloc_topology_set_xmlbuffer(topology.get(), xml.c_str(),
                                                 static_cast<int>(xml.size() + 1)) == 0 &&
                    hwloc_topology_load(topology.get()) == 0 &&
                    hwloc_topology_is_thissystem(topology.get()) == 0;
  if (!read) throw_no_machine(name);
  require_countable_cores(topology.get(), name);
  Machine machine = MachineReader(topology.get()).read();
  if (machine.nodes.empty() || hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PU) <= 0)
    throw InputError(name + ": the machine has no memory or no cores; export it again");
  return machine;
}

/// Returns true if a child process that reads the text ends as it should. hwloc trusts its exports,
/// and a text that is none may end the process that reads it (2.9: an object without
/// complete_cpuset).
bool reads_in_a_child(const std::string& xml) {
  constexpr unsigned kMostSeconds = 20;
  const pid_t child = fork();
  if (child < 0) throw RunError("no process can be started to read a machine");
  if (child == 0) {
    for (const int end : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM}) signal(end, SIG_DFL);
    alarm(kMostSeconds);
    close(STDERR_FILENO);
    try {
      read_machine(xml, "");
    } catch (const InputError&) {  // the parent finds it again, and says it
    } catch (...) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  pid_t ended = 0;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child) {  // where SIGCHLD is ignored
    throw RunError(std::string("cannot wait for the process that reads a machine: ") +
                   std::strerror(errno));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

Machine this_machine() {
  const TopologyHandle topology = new_topology();
  // They would open displays and load compilers, and report nothing of buses.
  for (const char* component : {"gl", "opencl"}) {
    hwloc_topology_set_components(topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                  component);
  }
  if (hwloc_topology_load(topology.get()) != 0)
    throw RunError("hwloc cannot find what this machine has");
  return MachineReader(topology.get()).read();
}

Machine machine_of_xml(const std::string& xml, const std::string& file) {
  const std::string name = printable(file, 200);
  if (!reads_in_a_child(xml)) throw_no_machine(name);
  return read_machine(xml, name);
}

}  // namespace hios::discovery
