#pragma once

namespace hios {

/// The effort of measuring the time that transfers take from ranks that compute.
enum class ChargeEffort {
  kWhole,  ///< by the protocol: three sizes of tensors, from each rank to the next
  /// Some of these transfers, and few rounds of few tensors: about a second. A time that cannot be
  /// (a receiver that is busy for less than nothing, or more than thrice as long as the transfer
  /// takes) is dropped.
  kQuick
};

}  // namespace hios
