#pragma once

// Builds with a sanitizer run the same tests with fewer cases: a case takes five to ten times as
// long there, and what it looks for (memory, undefined behaviour, races) shows in few of them. What
// is judged case by case, such as latencies against brute force, is judged by the optimised build.

namespace hios::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Returns the number of cases to try: all, or a fifth under a sanitizer, at least one.
template <typename Count>
constexpr Count tries(Count all) {
  return kSanitized ? (all + 4) / 5 : all;
}

}  // namespace hios::test
