#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hios/base/ids.h"
#include "hios/base/json/owned_json.h"
#include "hios/platform/platform.h"
#include "hios/profile/loads/measured_loads.h"

namespace hios {

/// A measured time. `ms` is the statistic of docs/numbers.md: the median over the sweeps that are
/// in the fastest quarter of whole sweeps.
struct Measurement {
  double ms = 0;
  double min_ms = 0;
  std::int64_t samples = 0;
  bool operator==(const Measurement&) const = default;
};

/// An operator's time on ranks that each repeat their block of its network, so that the weights of
/// a small block stay in caches; and its time in the whole network, from the same sweeps.
struct WarmMeasurement {
  double ms = 0;
  double cold_ms = 0;  ///< in sweeps over the whole network, interleaved with those of the blocks
  Bytes held_bytes =
      0;  ///< the most that a block held: its weights and the tensors alive at a time
  std::int64_t samples = 0;
  bool operator==(const WarmMeasurement&) const = default;
};

/// The time that sending and receiving a tensor takes from a device that computes meanwhile, as a
/// share of the transfer's time between waiting ranks.
struct MeasuredCharge {
  IoCharge charge;
  std::int64_t samples = 0;
  bool operator==(const MeasuredCharge&) const = default;
};

/// The cost of launching work on devices that receive it in advance.
struct MeasuredLaunch {
  /// A rank's own time for an inference: from the launch until the first operator begins, and from
  /// the last one's end until the rank notices it.
  double ms = 0;
  /// The time that reading the device's clock around a stage added to it. The times of operators
  /// and stages exclude it.
  double marks_ms = 0;
  std::int64_t samples = 0;
  bool operator==(const MeasuredLaunch&) const = default;
};

/// The groups of a stage as signatures; `canonical` sorts the groups, so that equal multisets of
/// groups are equal keys.
using StageKey = std::vector<std::vector<std::string>>;
StageKey canonical(StageKey groups);

/// Measured points by increasing size: (bytes, ms).
using CurvePoints = std::vector<std::pair<Bytes, double>>;

/// Returns the time by such points: linear between them, constant below the first; beyond the last,
/// the slope of the last two continues, or the last time where that slope is negative or there is
/// only one point. REQUIRES: points not empty.
double curve_ms(const CurvePoints& points, Bytes size_bytes);

/// The transfers of one pair of ranks.
struct TransferCurve {
  std::size_t from = 0, to = 0;
  CurvePoints points;  ///< of tensors that are copied from rank to rank
  /// The points of tensors in memory that both ranks share: the time until the receiver knows, plus
  /// the time by which operators that write a tensor and read it for the first time take longer
  /// than in memory of one rank. The receiver computes nothing meanwhile. Empty: the ranks share no
  /// memory.
  CurvePoints shared = {};
  bool operator==(const TransferCurve&) const = default;
  /// Returns curve_ms() of `points`.
  double transfer_ms(Bytes size_bytes) const { return curve_ms(points, size_bytes); }
};

/// The facts by which a plan selects a configuration. Measurements with one key and one backend
/// belong together.
struct ConfigurationKey {
  std::string kind;
  int threads = 1;
  Precision precision = Precision::kFp32;
  std::size_t ranks = 1;
  std::vector<std::string> devices = {};
  DeviceIdentity identity = {};
  auto operator<=>(const ConfigurationKey&) const = default;
};

/// The measured costs of running on one kind of device with one backend.
struct Configuration {
  std::string backend;  ///< "cpu"
  std::string kind;     ///< kind of the devices: "cpu", "cpu-avx2"
  int threads = 1;
  Precision precision = Precision::kFp32;
  std::size_t ranks = 1;
  /// The devices of the job by rank: a kind, or the identity where kinds are equal and identities
  /// differ. Empty: all alike. A transfer to a rank of another configuration belongs to the
  /// sender's configuration.
  std::vector<std::string> devices = {};
  OwnedJson machine = {};                                     ///< CPU or GPU name, cores, versions
  OwnedJson protocol = {};                                    ///< warm-up, sweeps, statistic
  std::map<std::string, Measurement, std::less<>> operators;  ///< by signature
  std::map<StageKey, Measurement> stages;
  std::vector<TransferCurve> transfers;
  std::optional<MeasuredLaunch> launch;  ///< empty: launching takes no time
  // For many inferences in flight; empty unless it was requested.
  std::map<std::string, WarmMeasurement, std::less<>> warm;  ///< by signature
  std::optional<MeasuredCharge> io_charge;
  // For cold starts; empty unless it was requested.
  std::map<StoreKind, MeasuredLoads> loads;                         ///< by the kind of their store
  std::map<std::string, InPlaceMeasurement, std::less<>> in_place;  ///< by signature
  double seconds = 0;  ///< total time of the measurements

  /// Returns the GPU that it was measured on; empty: not known.
  DeviceIdentity identity() const;
  ConfigurationKey key() const;
};

/// Measured times with provenance (profile_json.h reads and writes them).
struct Profile {
  std::vector<Configuration> configurations;
  std::string file = "FILE";  ///< the file that it was read from, for messages

  /// Returns the configuration for a device of a platform: measured among devices like the
  /// platform's, or otherwise among devices all like this one (whose transfers say nothing about
  /// the others). nullptr: there is neither. Of several backends, the first; the reference
  /// backend's only where there is no other.
  const Configuration* find(const Platform& platform, DeviceId device) const;
  /// Returns the configuration with this key, chosen among backends as above; nullptr: there is
  /// none.
  Configuration* find(const ConfigurationKey& key);

  /// Returns the algorithms (Backend::algorithms) of a device with the configuration `like`: its
  /// own first, then those of configurations that differ only in their ranks, so that any number of
  /// ranks gives the same bits.
  Json algorithms(const Configuration& like) const;

  /// Adds the measurements of `other`, which replace equal keys. The seconds of both add up.
  void merge(const Profile& other);
  /// Returns a digest of the whole content, for reports.
  std::string digest() const;
};

/// Returns the platform with the identities of the measured devices, for devices that have none.
/// Throws InputError with a need::DeviceIdentity where several were measured.
Platform identified_by(const Profile& profile, const Platform& platform);

}  // namespace hios
