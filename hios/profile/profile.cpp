#include "hios/profile/profile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hios/base/digest.h"
#include "hios/base/error.h"
#include "hios/base/json/json_text.h"
#include "hios/base/need.h"
#include "hios/profile/profile_json.h"

namespace hios {
namespace {

/// The oracle. A profile may have its times together with a backend's for the same kind of device;
/// plans use them only where there are no others.
constexpr std::string_view kOracle = "reference";

TransferCurve* find_curve(std::vector<TransferCurve>& curves, const TransferCurve& like) {
  const auto at = std::find_if(curves.begin(), curves.end(), [&](const TransferCurve& curve) {
    return curve.from == like.from && curve.to == like.to;
  });
  return at == curves.end() ? nullptr : &*at;
}

void absorb(Configuration& into, const Configuration& from) {
  if (!from.machine->empty()) into.machine = from.machine;
  if (!from.protocol->empty()) into.protocol = from.protocol;
  for (const auto& [signature, measurement] : from.operators) {
    into.operators.insert_or_assign(signature, measurement);
  }
  for (const auto& [key, measurement] : from.stages) into.stages.insert_or_assign(key, measurement);
  for (const TransferCurve& curve : from.transfers) {
    if (TransferCurve* known = find_curve(into.transfers, curve)) {
      const CurvePoints shared = curve.shared.empty() ? known->shared : curve.shared;
      *known = curve;
      known->shared = shared;
    } else {
      into.transfers.push_back(curve);
    }
  }
  if (from.launch) into.launch = from.launch;
  for (const auto& [signature, warm] : from.warm) into.warm.insert_or_assign(signature, warm);
  if (from.io_charge) into.io_charge = from.io_charge;
  for (const auto& [store, loads] : from.loads) into.loads.insert_or_assign(store, loads);
  for (const auto& [signature, ms] : from.in_place) into.in_place.insert_or_assign(signature, ms);
  into.seconds += from.seconds;
}

}  // namespace

StageKey canonical(StageKey groups) {
  std::sort(groups.begin(), groups.end());
  return groups;
}

double curve_ms(const CurvePoints& points, Bytes size_bytes) {
  if (points.size() == 1 || size_bytes <= points.front().first) return points.front().second;
  // The segment that contains the size; beyond the last point, the last segment is extended.
  auto end = std::find_if(points.begin() + 1, points.end(),
                          [&](const auto& point) { return size_bytes <= point.first; });
  const bool beyond = end == points.end();
  if (beyond) --end;
  const auto& [bytes_a, ms_a] = *(end - 1);
  const auto& [bytes_b, ms_b] = *end;
  const double slope = (ms_b - ms_a) / static_cast<double>(bytes_b - bytes_a);
  // Noise may make the last two points fall; more bytes never take less time.
  if (beyond && slope < 0) return ms_b;
  return ms_a + slope * static_cast<double>(size_bytes - bytes_a);
}

DeviceIdentity Configuration::identity() const {
  return DeviceIdentity::of(machine->is_object() ? machine->value("backend", Json()) : Json());
}

ConfigurationKey Configuration::key() const {
  return {kind, threads, precision, ranks, devices, identity()};
}

namespace {

/// Returns the first that fits, the oracle's only where there is no other.
template <class Fits>
const Configuration* first_of(const std::vector<Configuration>& configurations, Fits&& fits) {
  const Configuration* oracle = nullptr;
  for (const Configuration& configuration : configurations) {
    if (!fits(configuration)) continue;
    if (configuration.backend != kOracle) return &configuration;
    if (!oracle) oracle = &configuration;
  }
  return oracle;
}

/// Returns true if `entry` of Configuration::devices is this device.
bool is_device(const std::string& entry, const Device& device) {
  return entry == device.kind ||
         (!device.identity.empty() && DeviceIdentity(entry).matches(device.identity));
}

bool measured_among(const Configuration& configuration, const Platform& platform) {
  if (configuration.devices.size() != platform.size()) return false;
  for (std::size_t i = 0; i < platform.size(); ++i) {
    if (!is_device(configuration.devices[i], platform.device(DeviceId(i)))) return false;
  }
  return true;
}

bool is_of(const Configuration& configuration, const Device& device, std::size_t ranks) {
  const DeviceIdentity identity = configuration.identity();
  return configuration.kind == device.kind && configuration.threads == device.threads &&
         configuration.precision == device.precision && configuration.ranks == ranks &&
         (identity.empty() || identity.matches(device.identity));
}

}  // namespace

const Configuration* Profile::find(const Platform& platform, DeviceId id) const {
  const Device& device = platform.device(id);
  const auto among_these = [&](const Configuration& known) {
    return is_of(known, device, platform.size()) && measured_among(known, platform);
  };
  const auto among_alike = [&](const Configuration& known) {
    return is_of(known, device, platform.size()) && known.devices.empty();
  };
  const Configuration* const found =
      platform.alike() ? nullptr : first_of(configurations, among_these);
  return found ? found : first_of(configurations, among_alike);
}

Configuration* Profile::find(const ConfigurationKey& key) {
  const auto fits = [&](const Configuration& known) { return known.key() == key; };
  return const_cast<Configuration*>(first_of(configurations, fits));
}

Json Profile::algorithms(const Configuration& like) const {
  const auto of = [](const Configuration& known) {
    return known.machine->value("algorithms", Json::object());
  };
  Json result = of(like);
  for (const Configuration& known : configurations) {
    const bool alike = known.backend == like.backend && known.kind == like.kind &&
                       known.threads == like.threads && known.precision == like.precision &&
                       known.identity() == like.identity();
    if (!alike) continue;
    const Json theirs = of(known);
    for (const auto& [key, name] : theirs.items()) {
      if (!result.contains(key)) result[key] = name;
    }
  }
  return result;
}

void Profile::merge(const Profile& other) {
  for (const Configuration& configuration : other.configurations) {
    const auto known =
        std::find_if(configurations.begin(), configurations.end(), [&](const Configuration& mine) {
          return mine.backend == configuration.backend && mine.key() == configuration.key();
        });
    if (known == configurations.end()) {
      configurations.push_back(configuration);
    } else {
      absorb(*known, configuration);
    }
  }
}

Platform identified_by(const Profile& profile, const Platform& platform) {
  std::vector<DeviceIdentity> identities(platform.size());
  for (std::size_t d = 0; d < platform.size(); ++d) {
    const Device& device = platform.device(DeviceId(d));
    const Configuration* const found = profile.find(platform, DeviceId(d));
    if (!device.identity.empty() || !found) continue;
    identities[d] = found->identity();
    for (const Configuration& other : profile.configurations) {
      ConfigurationKey like = other.key();
      like.identity = identities[d];
      if (like != found->key() || other.identity() == identities[d]) continue;
      throw InputError(profile.file + ": $.configurations: measured on " + identities[d].text() +
                           " and on " + other.identity().text() +
                           ", and the platform does not say which " + device.name + " is",
                       need::DeviceIdentity{device.name});
    }
  }
  return platform.with_identities(identities);
}

std::string Profile::digest() const { return Digest().add(to_text(to_json(*this))).hex(); }

}  // namespace hios
