#pragma once

#include "hios/base/numbers/random.h"

namespace hios::scheduler {

/// Returns an exponential random number, −ln u for a uniform u in (0, 1]. Only arithmetic is used,
/// so that the result is the same on any machine: u = m·2^−k with m in [1, 2), and ln m =
/// 2·artanh((m − 1)/(m + 1)) as a series. Metropolis' rule accepts a change that is worse by at
/// most temperature · this number.
inline double exponential(Random& random) {
  constexpr double kLn2 = 0.6931471805599453;
  double m = 1 - random.uniform();
  double sum = 0;
  for (; m < 1; m *= 2) sum += kLn2;
  const double z = (m - 1) / (m + 1), z2 = z * z;
  return sum - 2 * z * (1 + z2 * (1.0 / 3 + z2 * (1.0 / 5 + z2 * (1.0 / 7 + z2 / 9))));
}

}  // namespace hios::scheduler
