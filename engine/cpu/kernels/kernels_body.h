// The loops of kernels.h over a vector type that the including file has defined: Vec, Mask, kLanes,
// kBlockSizes, kPairSizes, kPanelChunks, kPanelSums and the few operations on them. Everything here
// is in an unnamed namespace, so that the linker can never use code for one instruction set in the
// stead of another's. For the same reason nothing of the standard library is used.
#pragma once

#include "engine/cpu/kernels/channels_body.h"
#include "engine/cpu/kernels/elementwise_body.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/kernels/panels_body.h"
#include "engine/cpu/kernels/windows_body.h"
#include "engine/cpu/kernels/winograd_body.h"

namespace hios::cpu {
namespace {

/// Computes one run of `count` neighbouring values. Terms = 0: task.term_count of them.
template <int Terms>
inline void combine_run(const CombineTask& task, std::size_t offset, float* output,
                        std::size_t count) {
  const std::size_t terms = Terms != 0 ? Terms : task.term_count;
  const Vec floor = broadcast(task.floor);
  const std::size_t whole = count - count % kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    Vec sum = load(task.terms[0] + offset + i);
    for (std::size_t t = 1; t < terms; ++t) sum = add(sum, load(task.terms[t] + offset + i));
    store(output + i, at_least(floor, sum));
  }
  if (whole == count) return;
  const Mask mask = mask_of(static_cast<std::ptrdiff_t>(count - whole));
  Vec sum = load(task.terms[0] + offset + whole, mask);
  for (std::size_t t = 1; t < terms; ++t)
    sum = add(sum, load(task.terms[t] + offset + whole, mask));
  store(output + whole, at_least(floor, sum), mask);
}

template <int Terms>
void combine_terms(const CombineTask& task) {
  if (task.term_stride == task.channels && task.output_stride == task.channels) {
    combine_run<Terms>(task, task.term_offset, task.output, task.pixels * task.channels);
    return;
  }
  for (std::size_t p = 0; p < task.pixels; ++p) {
    combine_run<Terms>(task, task.term_offset + p * task.term_stride,
                       task.output + p * task.output_stride, task.channels);
  }
}

void combine(const CombineTask& task) {
  if (task.term_count == 1) return combine_terms<1>(task);
  if (task.term_count == 2) return combine_terms<2>(task);
  if (task.term_count == 3) return combine_terms<3>(task);
  combine_terms<0>(task);
}

void gate(const GateTask& task) {
  const std::size_t whole = task.channels - task.channels % kLanes;
  const Mask rest = mask_of(static_cast<std::ptrdiff_t>(task.channels - whole));
  for (std::size_t p = 0; p < task.pixels; ++p) {
    const float* const input = task.input + p * task.input_stride;
    float* const output = task.output + p * task.channels;
    for (std::size_t c = 0; c < whole; c += kLanes)
      store(output + c, mul(load(input + c), load(task.gate + c)));
    if (whole == task.channels) continue;
    store(output + whole, mul(load(input + whole, rest), load(task.gate + whole, rest)), rest);
  }
}

/// Averages V chunks of channels at a time, over all pixels.
template <int V>
inline void mean_of_chunks(const MeanTask& task, std::size_t channel, Mask last) {
  Vec sum[V];
  for (int v = 0; v < V; ++v) sum[v] = broadcast(0.0f);
  const float* pixel = task.input + channel;
  for (std::size_t p = 0; p < task.pixels; ++p, pixel += task.channels) {
    for (int v = 0; v + 1 < V; ++v) sum[v] = add(sum[v], load(pixel + v * kLanes));
    sum[V - 1] = add(sum[V - 1], load(pixel + (V - 1) * kLanes, last));
  }
  const Vec scale = broadcast(task.scale);
  for (int v = 0; v + 1 < V; ++v) store(task.output + channel + v * kLanes, mul(sum[v], scale));
  store(task.output + channel + (V - 1) * kLanes, mul(sum[V - 1], scale), last);
}

void channel_means(const MeanTask& task) {
  constexpr std::size_t kWide = 4;
  std::size_t channel = task.first_channel;
  for (; channel + kWide * kLanes <= task.last_channel; channel += kWide * kLanes) {
    mean_of_chunks<kWide>(task, channel, mask_of(kLanes));
  }
  for (; channel < task.last_channel; channel += kLanes) {
    mean_of_chunks<1>(task, channel,
                      mask_of(static_cast<std::ptrdiff_t>(task.last_channel - channel)));
  }
}

}  // namespace

const Kernels HIOS_KERNELS = {HIOS_KERNELS_NAME, kLanes,          &runs_here,
                              &depthwise,        &pool<Maximum>,  &pool<Average>,
                              &combine,          &channel_means,  &normalize_channels,
                              &softmax_channels, kUnaryRuns,      kBinaryRuns,
                              &weighted_sum,     &gate,           &winograd_input,
                              &winograd_output,  &multiply_panel, kPanelChunks,
                              kPanelSums};

}  // namespace hios::cpu
