#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"
#include "hios/platform/platform.h"

namespace hios {

/// A measured time. `ms` is the statistic that docs/numbers.md explains: the median over those
/// sweeps that are in the fastest quarter of whole sweeps.
struct Measurement {
  double ms = 0;
  double min_ms = 0;
  std::int64_t samples = 0;
  bool operator==(const Measurement&) const = default;
};

/// An operator on ranks that each run their part of its network again and again, so that weights
/// stay near where that part is small enough; beside it the same in the whole network, by the same
/// sweeps.
struct WarmMeasurement {
  double ms = 0;
  double cold_ms = 0;    ///< in sweeps over the whole network, in turns with those of the parts
  Bytes held_bytes = 0;  ///< the most that a part held: its weights, and tensors at a time
  std::int64_t samples = 0;
  bool operator==(const WarmMeasurement&) const = default;
};

/// What sending and receiving a tensor takes of a device that computes meanwhile, in parts of the
/// time that the transfer takes between waiting ranks.
struct MeasuredCharge {
  IoCharge charge;
  std::int64_t samples = 0;
  bool operator==(const MeasuredCharge&) const = default;
};

/// Of devices that are given their work in advance.
struct MeasuredLaunch {
  /// What a rank takes for an inference beside what the device does: from telling it to begin until
  /// the first operator does, and from the last one's end until the rank has seen it.
  double ms = 0;
  /// What reading the device's clock around a stage added to it. The times of operators and stages
  /// are without it.
  double marks_ms = 0;
  std::int64_t samples = 0;
  bool operator==(const MeasuredLaunch&) const = default;
};

/// The groups of a stage as signatures; `canonical` sorts the groups, so that equal multisets of
/// groups are equal keys.
using StageKey = std::vector<std::vector<std::string>>;
StageKey canonical(StageKey groups);

/// Measured points of one pair of ranks, by increasing size.
struct TransferCurve {
  std::size_t from = 0, to = 0;
  std::vector<std::pair<Bytes, double>> points;  ///< (bytes, ms)
  /// Linear between points; below the first as the first; beyond the last by the last two's slope,
  /// or as the last where that slope is negative or there is but one. REQUIRES: points not empty.
  double transfer_ms(Bytes size_bytes) const;
};

/// All that a plan can tell configurations apart by. The measurements of configurations of one key
/// and one backend belong together.
struct ConfigurationKey {
  std::string kind;
  int threads = 1;
  Precision precision = Precision::kFp32;
  std::size_t ranks = 1;
  std::vector<std::string> devices = {};
  DeviceIdentity identity = {};
  auto operator<=>(const ConfigurationKey&) const = default;
};

/// What running on one kind of device, with one backend, was measured to cost.
struct Configuration {
  std::string backend;  ///< "cpu"
  std::string kind;     ///< of the devices: "cpu", "cpu-avx2"
  int threads = 1;
  Precision precision = Precision::kFp32;
  std::size_t ranks = 1;
  /// By rank, what the job's ranks were: a kind, or the identity where kinds are alike and these
  /// differ.
  /// Empty: all alike. Transfers from and to the ranks of other configurations stand with the
  /// configuration of the rank that they come from.
  std::vector<std::string> devices = {};
  Json machine = Json::object();                              ///< CPU or GPU name, cores, versions
  Json protocol = Json::object();                             ///< warm-up, sweeps, statistic
  std::map<std::string, Measurement, std::less<>> operators;  ///< by signature
  std::map<StageKey, Measurement> stages;
  std::vector<TransferCurve> transfers;
  std::optional<MeasuredLaunch> launch;  ///< nothing: takes no time
  // For many inferences in flight; where nobody asked for it, there is none.
  std::map<std::string, WarmMeasurement, std::less<>> warm;  ///< by signature
  std::optional<MeasuredCharge> io_charge;
  double seconds = 0;  ///< what measuring it took, in all

  /// Which device it was measured on; empty: it does not say.
  DeviceIdentity identity() const;
  ConfigurationKey key() const;
};

/// `hios-profile`: measured times with provenance.
struct Profile {
  std::vector<Configuration> configurations;
  std::string file = "FILE";  ///< where it was read from: for messages only

  /// What was measured for a device of a platform: among devices like the platform's, else, where
  /// those differ from each other, among devices all like this one (then its transfers say nothing
  /// of the others). nullptr where neither was. The first of any backend, the reference backend's
  /// only where there is no other.
  const Configuration* find(const Platform& platform, DeviceId device) const;
  /// The one of this key, chosen among backends as above; nullptr: there is none.
  Configuration* find(const ConfigurationKey& key);

  /// By what algorithms a device computes as which `like` was measured (Backend::algorithms): its
  /// own, and those of configurations that differ from it in their ranks only, so that any number
  /// of ranks gives the same bits. Its own come first.
  Json algorithms(const Configuration& like) const;

  /// Adds what `other` knows and this does not; what both know is replaced by `other`'s. The
  /// seconds that both took add up.
  void merge(const Profile& other);
  /// Of the whole content, for reports.
  std::string digest() const;
};

/// The devices with the identities that the profile was measured on, where they have none. Throws
/// InputError where it was measured on several, and needs a "device-name" of the device "device".
Platform identified_by(const Profile& profile, const Platform& platform);

/// Throws InputError with file and JSON path.
Profile profile_from_json(const JsonView& root);
Json to_json(const Profile& profile);

}  // namespace hios
