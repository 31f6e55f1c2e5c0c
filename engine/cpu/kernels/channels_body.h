// Normalizations and softmax over the channels of a pixel, over the vector type that the including
// file has defined. kernels_body.h includes this, and its rules hold here: everything is in an
// unnamed namespace, and nothing of the standard library is used.
#pragma once

#include "engine/cpu/kernels/elementwise_body.h"
#include "engine/cpu/kernels/kernels.h"

namespace hios::cpu {
namespace {

double total_of(const Vec& v) {
  float lanes[kLanes];
  store(lanes, v);
  double total = 0;
  for (const float lane : lanes) total += lane;
  return total;
}

/// Calls step(first channel, lanes in use, accumulator) for chunk after chunk of a pixel's
/// channels, with four accumulators in turns, so that additions need not wait for each other.
template <class Step>
inline void for_chunks(std::size_t channels, Step&& step) {
  std::size_t c = 0;
  for (; c + 4 * kLanes <= channels; c += 4 * kLanes) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) step(c + i * kLanes, mask_of(kLanes), i);
  }
  for (std::size_t i = 0; c < channels; c += kLanes, ++i)
    step(c, mask_of(static_cast<std::ptrdiff_t>(channels - c)), i);
}

/// Returns Σ of f(chunk, 1 in lanes that are in use and 0 in others), which is 0 in these.
template <class F>
inline double sum_of_channels(const float* pixel, std::size_t channels, F&& f) {
  Vec sums[4];
  for (Vec& sum : sums) sum = broadcast(0.0f);
  float ones[kLanes];
  store(ones, broadcast(1.0f));
  for_chunks(channels, [&](std::size_t c, Mask mask, std::size_t i) {
    sums[i] = add(sums[i], f(load(pixel + c, mask), load(ones, mask)));
  });
  return total_of(add(add(sums[0], sums[1]), add(sums[2], sums[3])));
}

/// The mean is rounded to fp32 first; what it lacks is the mean of the distances from it, so that
/// nothing cancels where the mean is large next to the distances.
void normalize_channels(const NormalizeTask& task) {
  const double count = static_cast<double>(task.channels);
  for (std::size_t p = 0; p < task.pixels; ++p) {
    const float* const pixel = task.input + p * task.channels;
    float* const output = task.output + p * task.channels;
    const auto near = static_cast<float>(
        sum_of_channels(pixel, task.channels, [](Vec x, Vec) { return x; }) / count);
    const Vec minus_near = broadcast(-near);
    const double rest = sum_of_channels(pixel, task.channels,
                                        [&](Vec x, Vec ones) { return fma(ones, minus_near, x); }) /
                        count;
    const double squares = sum_of_channels(pixel, task.channels, [&](Vec x, Vec ones) {
      const Vec distance = fma(ones, minus_near, x);
      return mul(distance, distance);
    });
    const double variance = squares / count - rest * rest;
    const double rate = 1 / __builtin_sqrt((variance > 0 ? variance : 0) + task.epsilon);
    const Vec factor = broadcast(static_cast<float>(rate));
    const Vec minus_rest = broadcast(static_cast<float>(-rest));
    const Vec scale = broadcast(task.scale[0]), bias = broadcast(task.bias[0]);
    for_chunks(task.channels, [&](std::size_t c, Mask mask, std::size_t) {
      const Vec distance = add(add(load(pixel + c, mask), minus_near), minus_rest);
      const Vec scaled = mul(factor, task.scale_moves ? load(task.scale + c, mask) : scale);
      store(output + c, fma(distance, scaled, task.bias_moves ? load(task.bias + c, mask) : bias),
            mask);
    });
  }
}

/// Returns the maximum of a pixel's channels. It may miss NaN.
inline float greatest_channel(const float* pixel, std::size_t channels) {
  constexpr auto kStep = static_cast<std::size_t>(kLanes);
  if (channels < kStep) {
    float most = pixel[0];
    for (std::size_t c = 1; c < channels; ++c) most = pixel[c] > most ? pixel[c] : most;
    return most;
  }
  Vec most[4];
  for (Vec& one : most) one = load(pixel);
  std::size_t c = kStep;
  for (; c + 4 * kStep <= channels; c += 4 * kStep) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) most[i] = at_least(most[i], load(pixel + c + i * kStep));
  }
  for (; c + kStep <= channels; c += kStep) most[0] = at_least(most[0], load(pixel + c));
  most[1] = at_least(most[1], load(pixel + channels - kStep));  // some of them a second time
  float lanes[kLanes];
  store(lanes, at_least(at_least(most[0], most[1]), at_least(most[2], most[3])));
  float result = lanes[0];
  for (const float lane : lanes) result = lane > result ? lane : result;
  return result;
}

/// Writes exp(channel − most), and returns the sum. Long rows are summed in parts, so that fp32
/// suffices within one.
inline double write_exponentials(const float* pixel, std::size_t channels, float most,
                                 float* output) {
  constexpr std::size_t kPart = 1024;
  const Vec minus_most = broadcast(-most);
  double total = 0;
  for (std::size_t first = 0; first < channels; first += kPart) {
    const std::size_t count = channels - first < kPart ? channels - first : kPart;
    Vec sums[4];
    for (Vec& sum : sums) sum = broadcast(0.0f);
    float ones[kLanes];
    store(ones, broadcast(1.0f));
    for_chunks(count, [&](std::size_t c, Mask mask, std::size_t i) {
      const Vec used = load(ones, mask);
      const Vec e = mul(exp_of(fma(used, minus_most, load(pixel + first + c, mask))), used);
      store(output + first + c, e, mask);
      sums[i] = add(sums[i], e);
    });
    total += total_of(add(add(sums[0], sums[1]), add(sums[2], sums[3])));
  }
  return total;
}

void softmax_channels(const SoftmaxTask& task) {
  for (std::size_t p = 0; p < task.pixels; ++p) {
    const float* const pixel = task.input + p * task.channels;
    float* const output = task.output + p * task.channels;
    const float most = greatest_channel(pixel, task.channels);
    const double sum = write_exponentials(pixel, task.channels, most, output);
    const Vec scale = broadcast(static_cast<float>(1 / sum));
    for_chunks(task.channels, [&](std::size_t c, Mask mask, std::size_t) {
      store(output + c, mul(load(output + c, mask), scale), mask);
    });
  }
}

}  // namespace
}  // namespace hios::cpu
