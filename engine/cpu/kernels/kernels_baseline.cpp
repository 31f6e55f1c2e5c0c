// The kernels (kernels.h) for any processor: vectors of four by the compiler's extension.
#include <cstddef>

#define HIOS_KERNELS kBaselineKernels
#define HIOS_KERNELS_NAME "baseline"

namespace hios::cpu {
namespace {

using Vec = float __attribute__((vector_size(16)));
using Mask = std::ptrdiff_t;  // the number of lanes in use
constexpr std::ptrdiff_t kLanes = 4;
/// Block sizes in output pixels, ended by 0: the accumulators fit 16 registers.
constexpr int kBlockSizes[] = {8, 7, 4, 1, 0};
/// The same for two output rows at once.
constexpr int kPairSizes[] = {4, 0};
/// The chunks of a product's panel, and the accumulators of its tiles: 6 rows of 2 chunks.
constexpr int kPanelChunks = 2, kPanelSums = 12;

inline Mask mask_of(std::ptrdiff_t lanes) { return lanes < kLanes ? lanes : kLanes; }
inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
inline Vec load(const float* p, Mask m) {
  if (m == kLanes) return load(p);
  Vec v = {};
  for (std::ptrdiff_t i = 0; i < m; ++i) v[i] = p[i];
  return v;
}
inline void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline void store(float* p, Vec v, Mask m) {
  if (m == kLanes) return store(p, v);
  for (std::ptrdiff_t i = 0; i < m; ++i) p[i] = v[i];
}
inline Vec broadcast(float value) { return Vec{value, value, value, value}; }
inline Vec add(Vec a, Vec b) { return a + b; }
inline Vec mul(Vec a, Vec b) { return a * b; }
inline Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }
/// Returns `value` if either is NaN.
inline Vec at_least(Vec floor, Vec value) { return floor > value ? floor : value; }
/// Returns `value` if either is NaN.
inline Vec at_most(Vec ceiling, Vec value) { return ceiling < value ? ceiling : value; }
inline Vec square_root(Vec v) {
  for (std::ptrdiff_t i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}

bool runs_here() { return true; }

}  // namespace
}  // namespace hios::cpu

#include "engine/cpu/kernels/kernels_body.h"
