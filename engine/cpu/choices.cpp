#include "engine/cpu/choices.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/cpu/bind_convolutions.h"
#include "engine/cpu/operators.h"
#include "engine/host/clock.h"
#include "hios/base/error.h"
#include "hios/base/numbers/statistics.h"

namespace hios::cpu {
namespace {

constexpr std::int64_t kMostRows = 256;
constexpr std::string_view kDirect = "direct", kWinograd = "winograd";

/// Mostly those that fit into the second-level cache are fastest, and where there are few input
/// channels, the four rows of a tile or eight, which stay closer. Shards begin at multiples of four
/// rows: in larger blocks each computes rows in vain (36 and 35 rows in blocks of eight take 1.19
/// times as long as the 71 of their whole).
constexpr Method kTimed[] = {{true, 0}, {true, 4}, {true, 8}};
constexpr std::int64_t kRowsOfParts = 4;

struct Candidate {
  Method method;
  std::unique_ptr<BoundOperator> op;
  std::vector<double> ratios = {};  ///< its time to the direct method's, in the same turn
};

/// Runs the candidates in turns and compares each with the first. Long candidates vary less, so
/// they run less often.
void take_times(std::vector<Candidate>& candidates,
                const std::function<void(BoundOperator&)>& run) {
  constexpr int kWarmUps = 2, kFewest = 9, kFewestOfLong = 3, kMost = 41;
  constexpr double kEnoughMs = 80, kLongMs = 400;
  Stopwatch all;
  for (int i = 0; i < kWarmUps && (i == 0 || all.ms() < kLongMs); ++i) {
    for (Candidate& each : candidates) run(*each.op);
  }
  all = Stopwatch();
  const auto enough = [&](int rounds) {
    const double ms = all.ms();
    return ms >= kEnoughMs && rounds >= (ms >= kLongMs ? kFewestOfLong : kFewest);
  };
  for (int i = 0; i < kMost && !enough(i); ++i) {
    double first = 0;
    for (Candidate& each : candidates) {
      const Stopwatch watch;
      run(*each.op);
      if (&each == &candidates.front()) first = watch.ms();
      each.ratios.push_back(watch.ms() / first);
    }
  }
}

}  // namespace

std::string Method::text() const {
  return std::string(winograd ? kWinograd : kDirect) + (rows > 0 ? ' ' + std::to_string(rows) : "");
}

std::optional<Method> Method::from(std::string_view text) {
  Method method{text.starts_with(kWinograd), 0};
  const std::string_view name = method.winograd ? kWinograd : kDirect;
  if (text == name) return method;
  if (!text.starts_with(name) || text[name.size()] != ' ') return {};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + name.size() + 1, end, method.rows);
  if (read.ec != std::errc() || read.ptr != end || method.rows < 1 || method.rows > kMostRows) {
    return {};
  }
  return method;
}

void Choices::adopt(const Json& methods) {
  if (!methods.is_object()) {
    throw InputError(
        "the algorithms of backend cpu are not an object of strings; measure them again");
  }
  for (const auto& [signature, name] : methods.items()) {
    const auto method = name.is_string() ? Method::from(name.get<std::string>()) : std::nullopt;
    if (!method) {
      throw InputError("backend cpu knows no algorithm " + printable(name.dump()) + " for " +
                       printable(signature, 200) + "; measure it again");
    }
    methods_[signature] = *method;
  }
}

Method Choices::of(const Operation& operation) const {
  const auto found = methods_.find(operation.signature);
  return found == methods_.end() ? Method{} : found->second;
}

Json Choices::known(const Operation& operation) const {
  Json result = Json::object();
  const auto found = methods_.find(operation.signature);
  if (found != methods_.end()) result[operation.signature] = found->second.text();
  return result;
}

bool Choices::wants_timing(const Operation& operation, Choosing how) const {
  const bool is_known = methods_.contains(operation.signature);
  if (how == Choosing::kByTiming) return !is_known;
  if (how != Choosing::kByTimingInParts) return false;
  const Method method = of(operation);
  return !is_known || (method.winograd && method.rows != kRowsOfParts);
}

void Choices::time(const Binding& binding, bool in_blocks,
                   const std::function<void(BoundOperator&)>& run) {
  const auto* chain = std::get_if<ConvolutionChain>(&binding.operation.layers->form);
  if (!chain || chain->has_front()) return;
  const Shape output = binding.output_shape();
  const bool one_block = output.n == 1 && output.h <= kRowsOfParts;  // with all methods
  std::vector<Candidate> candidates;
  candidates.push_back({Method{}, nullptr});
  for (const Method& method : kTimed) {
    if ((in_blocks || one_block) && method.rows != kRowsOfParts) continue;
    if (auto op = bind_winograd(binding, *chain, method.rows)) {
      candidates.push_back({method, std::move(op)});
    }
  }
  if (candidates.size() == 1) return;
  take_direct(binding.operation, 0);
  candidates.front().op = bind_form(binding, *chain);
  take_times(candidates, run);
  Method best;
  double least = 0.95;
  for (const Candidate& each : candidates) {
    const double ratio = summarize(each.ratios).median;
    if (ratio < least) std::tie(best, least) = std::pair(each.method, ratio);
  }
  methods_[binding.operation.signature] = best;
}

}  // namespace hios::cpu
