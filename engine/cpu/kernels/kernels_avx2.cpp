// The kernels (kernels.h) for AVX2 and FMA, compiled with these (see CMakeLists.txt); entered only
// if runs_here().
#include <immintrin.h>

#define HIOS_KERNELS kAvx2Kernels
#define HIOS_KERNELS_NAME "avx2"

namespace hios::cpu {
namespace {

using Vec = __m256;
using Mask = __m256i;
constexpr std::ptrdiff_t kLanes = 8;
/// Block sizes in output pixels, ended by 0: the accumulators fit 16 registers.
constexpr int kBlockSizes[] = {8, 7, 4, 1, 0};
/// The same for two output rows at once: none, they gained nothing with 16 registers.
constexpr int kPairSizes[] = {0};
/// The chunks of a product's panel, and the accumulators of its tiles: 6 rows of 2 chunks.
constexpr int kPanelChunks = 2, kPanelSums = 12;

inline Mask mask_of(std::ptrdiff_t lanes) {
  const int count = static_cast<int>(lanes < kLanes ? lanes : kLanes);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Vec load(const float* p) { return _mm256_loadu_ps(p); }
inline Vec load(const float* p, Mask m) { return _mm256_maskload_ps(p, m); }
inline void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
inline void store(float* p, Vec v, Mask m) { _mm256_maskstore_ps(p, m, v); }
inline Vec broadcast(float value) { return _mm256_set1_ps(value); }
inline Vec add(Vec a, Vec b) { return _mm256_add_ps(a, b); }
inline Vec mul(Vec a, Vec b) { return _mm256_mul_ps(a, b); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
/// Returns `value` if either is NaN.
inline Vec at_least(Vec floor, Vec value) { return _mm256_max_ps(floor, value); }
/// Returns `value` if either is NaN.
inline Vec at_most(Vec ceiling, Vec value) { return _mm256_min_ps(ceiling, value); }
inline Vec square_root(Vec v) { return _mm256_sqrt_ps(v); }

bool runs_here() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

}  // namespace
}  // namespace hios::cpu

#include "engine/cpu/kernels/kernels_body.h"
