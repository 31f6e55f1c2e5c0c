// The kernels (kernels.h) for AVX-512 F, BW, DQ and VL, compiled with these (see CMakeLists.txt);
// entered only if runs_here().
#include <immintrin.h>

#define HIOS_KERNELS kAvx512Kernels
#define HIOS_KERNELS_NAME "avx512"

namespace hios::cpu {
namespace {

using Vec = __m512;
using Mask = __mmask16;
constexpr std::ptrdiff_t kLanes = 16;
/// Block sizes in output pixels, ended by 0: the accumulators, with a row of weights, fit 32
/// registers.
constexpr int kBlockSizes[] = {14, 11, 8, 7, 4, 1, 0};
/// The same for two output rows at once.
constexpr int kPairSizes[] = {8, 7, 6, 5, 4, 0};
/// The chunks of a product's panel, and the accumulators of its tiles: 9 rows of 3 chunks.
constexpr int kPanelChunks = 3, kPanelSums = 28;

inline Mask mask_of(std::ptrdiff_t lanes) {
  return static_cast<Mask>(lanes >= kLanes ? 0xffffu : (1u << lanes) - 1u);
}
inline Vec load(const float* p) { return _mm512_loadu_ps(p); }
inline Vec load(const float* p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
inline void store(float* p, Vec v, Mask m) { _mm512_mask_storeu_ps(p, m, v); }
inline Vec broadcast(float value) { return _mm512_set1_ps(value); }
inline Vec add(Vec a, Vec b) { return _mm512_add_ps(a, b); }
inline Vec mul(Vec a, Vec b) { return _mm512_mul_ps(a, b); }
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
/// Returns `value` if either is NaN. (The form with a mask, which the compiler removes, because GCC
/// 12 warns of its own _mm512_max_ps.)
inline Vec at_least(Vec floor, Vec value) { return _mm512_maskz_max_ps(0xffff, floor, value); }
/// Returns `value` if either is NaN.
inline Vec at_most(Vec ceiling, Vec value) { return _mm512_maskz_min_ps(0xffff, ceiling, value); }
inline Vec square_root(Vec v) { return _mm512_maskz_sqrt_ps(0xffff, v); }

bool runs_here() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace
}  // namespace hios::cpu

#include "engine/cpu/kernels/kernels_body.h"
