#include "hios/profile/elsewhere.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "hios/base/error.h"

// A profile's machine is a free object: a value of another type counts as missing.
namespace hios {
namespace {

std::string text_at(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Returns the hosts of the ranks, each once: "n1, n2".
std::string hosts_of(const Json& machine) {
  std::string text;
  std::set<std::string> seen;
  const auto found = machine.is_object() ? machine.find("hosts") : machine.end();
  if (found == machine.end() || !found->is_array()) return {};
  for (const Json& host : *found) {
    if (!host.is_string() || !seen.insert(host.get<std::string>()).second) continue;
    text += (text.empty() ? "" : ", ") + printable(host.get<std::string>());
  }
  return text;
}

std::string on_host(const std::string& hosts) { return hosts.empty() ? "" : " on " + hosts; }

}  // namespace

std::string differences(const Configuration& configuration, const Surrounding& here) {
  const Json& machine = configuration.machine;
  std::string all;
  const auto add = [&](const std::string& what, const std::string& there, const std::string& now) {
    all += (all.empty() ? "" : ", ") + what + printable(there, 100) + " (here " + now + ")";
  };
  const auto compare = [&](const std::string& what, const std::string& there,
                           const std::string& now) {
    if (!there.empty() && !now.empty() && there != now) add(what, there, printable(now, 100));
  };
  if (configuration.identity().empty()) {
    const std::string processor = text_at(machine, "processor");
    if (!processor.empty() && !here.processor.empty() && processor != here.processor) {
      add("processor ", printable(processor, 100) + on_host(hosts_of(machine)),
          printable(here.processor, 100) + on_host(printable(here.host)));
    }
    const auto backend = machine.is_object() ? machine.find("backend") : machine.end();
    if (backend != machine.end()) compare("", text_at(*backend, "library"), here.library);
  }
  // "Open MPI 4.1.4, shared memory with CMA": the library, and then the way of its messages.
  const std::string transport = text_at(machine, "transport");
  if (configuration.ranks > 1) compare("", transport.substr(0, transport.find(',')), here.mpi);
  const bool shared = std::ranges::any_of(
      configuration.transfers, [](const TransferCurve& curve) { return !curve.shared.empty(); });
  if (here.copies && shared) add("", "memory that ranks share", "tensors are copied");
  compare("hios ", text_at(machine, "hios"), here.version);
  compare("commit ", text_at(machine, "commit"), here.commit);
  compare("built by ", text_at(machine, "build"), here.build);
  return all;
}

std::string measured_elsewhere(const Profile& profile, const Platform& platform,
                               std::span<const Surrounding> here) {
  std::string all;
  std::set<std::string> seen;
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const Configuration* const used = profile.find(platform, DeviceId(d));
    if (!used) continue;
    const std::string one = differences(*used, here.size() == 1 ? here.front() : here[d]);
    if (one.empty() || !seen.insert(one).second) continue;
    all += (all.empty() ? printable(profile.file, 200) + ": measured with " : "; ") + one;
  }
  return all;
}

}  // namespace hios
