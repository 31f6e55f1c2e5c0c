#include "engine/cuda/operators/autotune_timer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>
#include <utility>

#include "engine/cuda/device/handles.h"
#include "engine/cuda/device/recording.h"
#include "hios/base/need.h"
#include "hios/base/numbers/half.h"
#include "hios/base/numbers/random.h"

namespace hios::cuda {
namespace {

constexpr std::size_t kRunsInARow = 20;  // at least, and all sets of operands, if kRowMs allows
constexpr int kRows = 4;                 // the first is not counted
constexpr double kRowMs = 20;            // about, at most: slow runs differ little, so few suffice
constexpr std::size_t kMostSets = 512;
constexpr double kMostRuns = 1e6;
constexpr double kWarmUpMs = 500;
constexpr double kHopeless = 3;  // times the best
constexpr std::size_t kFirstRuns = 2;
// Additional time of a run that the host queues, where a library may first describe operands that
// are new to it, or of a row that it replays.
constexpr double kMsOfOneLaunch = 0.05;
constexpr Bytes kAlignment = 256;
constexpr int kNotWritten = 0xff;  // of outputs: not a number

constexpr const char* kDoing = "trying an algorithm";

Bytes bytes_of(std::size_t values, const ConvolutionProblem& problem) {
  const Bytes size_bytes = values * size_of(problem.element());
  return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
}

constexpr std::size_t kRandomValues = 4099;  // prime: no row of a tensor is like the one before it

/// Returns random numbers between -1 and 1, as a GPU stores them. Equal numbers would draw less
/// power than real values, and would hide operands that are mixed up.
std::vector<std::byte> random_values(Element element) {
  Random random(0, "operands of trials");
  std::vector<float> values(kRandomValues);
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  std::vector<std::byte> bytes(values.size() * size_of(element));
  if (element == Element::kHalf) {
    std::memcpy(bytes.data(), to_halves(values).data(), bytes.size());
  } else {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  }
  return bytes;
}

}  // namespace

std::string ms_text(double ms) {
  std::ostringstream text;
  text << std::setprecision(4) << ms << " ms";
  return text.str();
}

std::size_t trial_sets(Bytes set_bytes, Bytes cache_bytes, Bytes free_bytes) {
  const Bytes set = std::max<Bytes>(set_bytes, 1);
  const std::size_t filling = (cache_bytes + set - 1) / set, affordable = free_bytes / 4 / set;
  return std::clamp<std::size_t>(std::min(filling + 1, affordable), 1, kMostSets);
}

AutotuneTimer::AutotuneTimer(const ConvolutionProblem& problem, const ConvolutionTools& tools)
    : problem_(problem),
      stream_(tools.stream.stream()),
      input_bytes_(bytes_of(problem.input_values(), problem)),
      weights_bytes_(bytes_of(problem.weight_values(), problem)),
      bias_bytes_(bytes_of(static_cast<std::size_t>(problem.window.out_channels), problem)),
      addend_bytes_(problem.addend ? bytes_of(problem.output_values(), problem) : 0),
      output_bytes_(bytes_of(problem.output_values(), problem)),
      cache_bytes_(tools.gpu.cache_bytes),
      before_(make_timed_event()),
      after_(make_timed_event()),
      byte_(std::make_unique<DeviceBlock>(1, "trying algorithms: whether the GPU still works")) {}

/// Makes at least so many sets of operands.
void AutotuneTimer::make_sets(std::size_t sets) {
  if (sets_ >= sets) return;
  operands_.reset();
  sets_ = 0;  // there may be no memory for more
  operands_ = std::make_unique<DeviceBlock>(sets * set_bytes(), "trying algorithms: operands");
  sets_ = sets;
  fill_operands();
}

/// Writes random values to the beginning, and then copies all that is there until the end is
/// reached.
void AutotuneTimer::fill_operands() {
  const std::vector<std::byte> values = random_values(problem_.element());
  std::byte* const data = operands_->data();
  const Bytes all = operands_->size_bytes();
  Bytes filled = std::min<Bytes>(values.size(), all);
  HIOS_CUDA(cudaMemcpyAsync(data, values.data(), filled, cudaMemcpyDefault, stream_), kDoing);
  while (filled < all) {
    const Bytes more = std::min(filled, all - filled);
    HIOS_CUDA(cudaMemcpyAsync(data + filled, data, more, cudaMemcpyDefault, stream_), kDoing);
    filled += more;
  }
  HIOS_CUDA(cudaStreamSynchronize(stream_), kDoing);
}

std::vector<float> AutotuneTimer::output_of(ConvolutionAlgorithm& algorithm) {
  run_once(algorithm);  // makes the operands
  std::byte* const output = operands_->data() + set_bytes() - output_bytes_;
  HIOS_CUDA(cudaMemsetAsync(output, kNotWritten, output_bytes_, stream_), kDoing);
  queue(algorithm, 0);
  const std::size_t count = problem_.output_values();
  std::vector<float> values(count);
  std::vector<Half> halves(problem_.element() == Element::kHalf ? count : 0);
  void* const to = halves.empty() ? static_cast<void*>(values.data()) : halves.data();
  HIOS_CUDA(
      cudaMemcpyAsync(to, output, count * size_of(problem_.element()), cudaMemcpyDefault, stream_),
      kDoing);
  HIOS_CUDA(cudaStreamSynchronize(stream_), kDoing);
  for (std::size_t i = 0; i < halves.size(); ++i) values[i] = to_float(halves[i]);
  return values;
}

double AutotuneTimer::difference(ConvolutionAlgorithm& algorithm, ConvolutionAlgorithm& reference) {
  const std::vector<float> expected = output_of(reference), values = output_of(algorithm);
  double distance = 0, length = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = double{values[i]} - double{expected[i]};
    distance += error * error;
    length += double{expected[i]} * double{expected[i]};
  }
  const double result = std::sqrt(distance / std::max(length, 1e-30));
  return std::isfinite(result) ? result : std::numeric_limits<double>::infinity();
}

void AutotuneTimer::require_working_device(const std::string& algorithm,
                                           std::vector<std::string> left_out) const {
  try {
    HIOS_CUDA(cudaStreamSynchronize(stream_), kDoing);
    HIOS_CUDA(cudaMemsetAsync(byte_->data(), 0, 1, stream_), kDoing);
    HIOS_CUDA(cudaStreamSynchronize(stream_), kDoing);
  } catch (const RunError& error) {
    left_out.push_back(algorithm);
    throw RunError("the algorithm " + quote(algorithm) + " for " + quote(problem_.key(), 120) +
                       " broke the GPU's context (" + error.what() +
                       "); install another version of its library",
                   need::WithoutAlgorithms{std::move(left_out)});
  }
}

void AutotuneTimer::queue(ConvolutionAlgorithm& algorithm, std::size_t run) {
  std::byte* const input = operands_->data() + run % sets_ * set_bytes();
  std::byte* const weights = input + input_bytes_;
  std::byte* const bias = weights + weights_bytes_;
  std::byte* const addend = bias + bias_bytes_;
  algorithm.queue({input, weights, problem_.bias ? bias : nullptr, addend + addend_bytes_,
                   problem_.addend ? addend : nullptr},
                  workspace_->data(), kDoing);
}

void AutotuneTimer::run_once(ConvolutionAlgorithm& algorithm) {
  const Bytes wanted = algorithm.workspace_bytes();
  if (!workspace_ || workspace_->size_bytes() < wanted) {
    workspace_.reset();
    workspace_ =
        std::make_unique<DeviceBlock>(std::max(wanted, Bytes{256}), "trying algorithms: workspace");
  }
  make_sets(1);
  queue(algorithm, 0);
  HIOS_CUDA(cudaStreamSynchronize(stream_), kDoing);
}

template <class Work>
double AutotuneTimer::timed(Work&& work) {
  HIOS_CUDA(cudaEventRecord(before_.get(), stream_), kDoing);
  work();
  HIOS_CUDA(cudaEventRecord(after_.get(), stream_), kDoing);
  HIOS_CUDA(cudaStreamSynchronize(stream_), kDoing);
  float milliseconds = 0;
  HIOS_CUDA(cudaEventElapsedTime(&milliseconds, before_.get(), after_.get()), kDoing);
  return milliseconds;
}

std::function<double()> AutotuneTimer::row_of(ConvolutionAlgorithm& algorithm, std::size_t runs) {
  // The first set is in the cache: run_once() takes it.
  const auto queue_all = [this, &algorithm, runs] {
    for (std::size_t run = 1; run <= runs; ++run) queue(algorithm, run);
  };
  if (!records_) return [this, queue_all] { return timed(queue_all); };
  const auto row = std::make_shared<GraphExec>(capture(stream_, queue_all));
  return [this, row] {
    return timed([&] { HIOS_CUDA(cudaGraphLaunch(row->get(), stream_), kDoing); });
  };
}

void AutotuneTimer::warm_up(ConvolutionAlgorithm& algorithm) {
  run_once(algorithm);
  const auto row_ms = row_of(algorithm, kRunsInARow);
  for (double busy_ms = 0; busy_ms < kWarmUpMs;) busy_ms += row_ms();
}

Trial AutotuneTimer::trial(ConvolutionAlgorithm& algorithm, double best_ms) {
  try {
    if (sets_ < 2) make_sets(trial_sets(set_bytes(), cache_bytes_, free_memory()));
    run_once(algorithm);
    const std::size_t first_runs = records_ ? kFirstRuns : 1;
    const double runs_ms = row_of(algorithm, first_runs)();
    const double first_ms = runs_ms / static_cast<double>(first_runs);
    if (runs_ms > kHopeless * best_ms * static_cast<double>(first_runs) + kMsOfOneLaunch) {
      return {{}, "its first runs took " + ms_text(first_ms) + " each"};
    }
    const double affordable = kRowMs / std::max(first_ms, kRowMs / kMostRuns);
    const std::size_t runs = std::clamp<std::size_t>(static_cast<std::size_t>(affordable), 1,
                                                     std::max(kRunsInARow, sets_));
    const auto row_of_runs_ms = row_of(algorithm, runs);
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRows; ++i) {
      const double row_ms = row_of_runs_ms();
      if (i > 0) least = std::min(least, row_ms);
    }
    return {least / static_cast<double>(runs)};
  } catch (const RunError& error) {
    // This is no error of the run: the libraries refuse by failing.
    (void)cudaGetLastError();
    return {{}, error.what()};
  }
}

}  // namespace hios::cuda
