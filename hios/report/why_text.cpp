// The words of a Why. Each sentence stands alone, names its numbers, and claims no more than they
// say. Tests: tests/hios/report/why_test.cpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <span>

#include "hios/base/error.h"
#include "hios/report/why.h"

namespace hios {
namespace {

constexpr std::size_t kMostPathNames = 5;
constexpr std::size_t kMostNames = 3;   ///< of tensors
constexpr std::size_t kMostWaits = 2;   ///< devices whose waits are named
constexpr double kTellingShare = 0.01;  ///< of the latency; shorter waits are left out
constexpr double kEqualLatencies = kNearBound;

/// Returns three significant digits: "0.123", "2.64", "42.6", "1234".
std::string ms_digits(double ms) {
  char text[64];
  const int digits = ms < 0.9995 ? 3 : ms < 9.995 ? 2 : ms < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f", digits, ms);
  return text;
}

std::string whole_percent(double ratio) {
  char text[64];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * ratio);
  return text;
}

std::string times_as_fast(double ratio) {
  char text[64];
  // Rounded up: the text says "at most".
  std::snprintf(text, sizeof text, "%.2fx", std::ceil(100 * ratio - 1e-6) / 100);
  return text;
}

std::string number_word(std::size_t number) {
  static constexpr std::array kWords = {"no",   "one", "two",   "three", "four",
                                        "five", "six", "seven", "eight"};
  return number < kWords.size() ? kWords[number] : std::to_string(number);
}

// Names come from files, and may be long.
std::string name_of(OpId op, const Graph& graph) { return printable(graph.op(op).name); }
std::string name_of(DeviceId device, const Why& why) {
  return printable(why.devices[device.index()]);
}

/// Returns the names with commas; "…" stands for others that are left out.
std::string listed_names(const std::vector<OpId>& operators, std::size_t all, const Graph& graph) {
  std::string text;
  for (const OpId op : operators) text += (text.empty() ? "" : ", ") + name_of(op, graph);
  return operators.size() < all ? text + ", …" : text;
}

std::string path_words(const Why& why, const Graph& graph) {
  const Limits& limits = *why.limits;
  const std::vector<OpId> names =
      longest_operators(limits.path.operators, why.operator_ms, kMostPathNames);
  return ms_digits(limits.path.ms) + " ms, " + whole_percent(limits.path_share()) +
         " of the work (" + listed_names(names, limits.path.operators.size(), graph) + ")";
}

/// Returns the longest transfers of the chain, the longest first: "conv_3 to cpu1 2.10".
std::string transfer_words(const Why& why, const Graph& graph) {
  std::vector<ChainTransfer> all = why.limits->chain.transfers;
  std::ranges::stable_sort(all, std::greater<>(), &ChainTransfer::ms);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNames, all.size()); ++i) {
    text += (i > 0 ? ", " : "") + name_of(all[i].producer, graph) + " to " +
            name_of(all[i].to, why) + " " + ms_digits(all[i].ms);
  }
  return all.size() > kMostNames ? text + ", …" : text;
}

/// Returns the longest loads of the chain, the longest first: "conv_3 to gpu1 2.10".
std::string load_words(const Why& why, const Graph& graph) {
  std::vector<ChainLoad> all = why.limits->chain.loads;
  std::ranges::stable_sort(all, std::greater<>(), &ChainLoad::ms);
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNames, all.size()); ++i) {
    text += (i > 0 ? ", " : "") + name_of(all[i].of, graph) + " to " + name_of(all[i].to, why) +
            " " + ms_digits(all[i].ms);
  }
  return all.size() > kMostNames ? text + ", …" : text;
}

std::string busiest_words(const Why& why) {
  const Limits& limits = *why.limits;
  const std::string name = name_of(limits.busiest, why);
  const std::string busy = " is busy for " + whole_percent(limits.busy_share) + " of it";
  if (limits.devices_used < 2) return name + " alone" + busy;
  return name + ", the busiest of " + number_word(limits.devices_used) +
         (why.measured ? " ranks," : " devices,") + busy;
}

std::string limit_words(const Why& why, const Graph& graph) {
  const Limits& limits = *why.limits;
  const std::string takes = printable(why.algorithm) + (why.measured ? " took " : " takes ") +
                            ms_digits(limits.latency_ms) + " ms: ";
  const std::string path = "the longest path is " + path_words(why, graph);
  switch (limits.limit) {
    case Limit::kLongestPath:
      return takes + "the longest path limits it, " + path_words(why, graph);
    case Limit::kMemory:
      return takes + "memory limits it, as operators of " + name_of(limits.busiest, why) +
             " fit nowhere else; " + path;
    case Limit::kWork:
      return takes + "the work itself limits it, as " + busiest_words(why) + "; " + path;
    case Limit::kLoads:
      return takes + "loads of parameters limit it, " + ms_digits(limits.chain.loads_ms) +
             " ms on its critical path (" + load_words(why, graph) + "); " + path;
    case Limit::kTransfers:
      return takes + "transfers limit it, " + ms_digits(limits.chain.transfers_ms) +
             " ms on its critical path (" + transfer_words(why, graph) + "); " + path;
    case Limit::kWaits:
      break;
  }
  return takes + "no single limit, as " + busiest_words(why) + ", and transfers take " +
         whole_percent(limits.latency_ms > 0 ? limits.chain.transfers_ms / limits.latency_ms : 0) +
         " of its critical path" +
         (limits.chain.loads_ms > 0
              ? ", loads of parameters " + whole_percent(limits.chain.loads_ms / limits.latency_ms)
              : "") +
         "; " + path;
}

/// Returns the reason why a plan leaves devices without work; "" where it uses all or several.
std::string one_device_words(const Why& why) {
  const Limits& limits = *why.limits;
  if (limits.devices_used != 1 || why.devices.size() < 2) return "";
  const std::string all = number_word(why.devices.size()) + (why.measured ? " ranks" : " devices");
  return (why.proven ? std::string("one ") + (why.measured ? "rank" : "device") + " is best here"
                     : "the plan uses one of " + all) +
         ": the longest path is " + whole_percent(limits.path_share()) + " of the work" +
         (why.bound_ms > 0 ? ", and no plan on " + all + " takes less than " +
                                 ms_digits(why.bound_ms) + " ms (" + why.bound + ")"
                           : "");
}

std::string gains_words(const Why& why) {
  const Gains& gains = *why.gains;
  const std::string gain = (why.measured ? " ranks like " : " devices like ") +
                           name_of(gains.like, why) + " gain at most ";
  const std::string over = gains.serial ? " over one" : " over one stream";
  std::string text;
  for (std::size_t i = 0; i < gains.gains.size(); ++i) {
    const Gain& each = gains.gains[i];
    const bool same = i + 1 < gains.gains.size() && gains.gains[i + 1].bound == each.bound;
    text += i > 0 ? ", " : "";
    text += number_word(each.devices) + (i > 0 ? " " : gain) + times_as_fast(gains.most(each)) +
            (i > 0 ? "" : over);
    if (!same) text += " (" + each.bound + ")";
  }
  return gains.quick ? text + ", by longest path and work alone" : text;
}

/// The waits of a device for one other device, or for one lane.
struct NamedWait {
  std::string whom;  ///< "cpu0", "parameters of lane 2"
  double ms = 0;
  std::vector<OpId> operators;
};

/// Returns the waits that are long enough to be named, the longest first.
std::vector<NamedWait> named_waits(const Why& why, std::size_t device) {
  std::vector<NamedWait> all;
  for (const WaitsFor& each : waits_by_device(why.times[device])) {
    all.push_back({name_of(each.from, why), each.ms, each.producers});
  }
  for (const WaitsForLane& each : waits_by_lane(why.times[device])) {
    all.push_back({"parameters of lane " + std::to_string(each.lane), each.ms, each.operators});
  }
  std::erase_if(all,
                [&](const NamedWait& each) { return each.ms < kTellingShare * why.latency_ms; });
  std::ranges::stable_sort(all, std::greater<>(), &NamedWait::ms);
  return all;
}

/// Returns what one device waits for: "cpu1 waits 12.3 ms of 44.0 for cpu0 (concat_3, conv_17), 2.0
/// for parameters of lane 0 (conv_18)".
std::string device_waits(const Why& why, std::size_t device, const Graph& graph) {
  std::string text = name_of(DeviceId(device), why);
  bool first = true;
  for (const NamedWait& each : named_waits(why, device)) {
    std::vector<OpId> names = each.operators;
    names.resize(std::min(kMostNames, names.size()));
    text += first ? " waits " + ms_digits(each.ms) + " ms of " + ms_digits(why.latency_ms)
                  : ", " + ms_digits(each.ms);
    text += " for " + each.whom + " (" + listed_names(names, each.operators.size(), graph) + ")";
    first = false;
  }
  return text;
}

std::string waits_words(const Why& why, const Graph& graph) {
  std::vector<std::pair<double, std::size_t>> waiting;
  for (std::size_t d = 0; d < why.times.size(); ++d) {
    if (!named_waits(why, d).empty()) waiting.emplace_back(why.times[d].waiting_ms(), d);
  }
  std::ranges::stable_sort(waiting, std::greater<>(), [](const auto& each) { return each.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostWaits, waiting.size()); ++i) {
    text += (i > 0 ? "; " : "") + device_waits(why, waiting[i].second, graph);
  }
  if (waiting.size() <= kMostWaits) return text;
  const std::size_t others = waiting.size() - kMostWaits;
  return text + "; " + number_word(others) + (others == 1 ? " other waits" : " others wait");
}

/// Returns the comparison with one rank of more threads.
std::string threads_words(const Why& why) {
  const OneRankOfThreads& one = *why.threads;
  const double ms = one.sequential_ms;
  const double plan_ms = why.limits ? why.limits->latency_ms : why.latency_ms;
  const std::string plan = "the plan on " + number_word(why.devices.size()) +
                           (why.measured ? " ranks (" : " devices (") + ms_digits(plan_ms) + " ms)";
  const std::string text = number_word(static_cast<std::size_t>(one.threads)) +
                           " threads of one rank: " + ms_digits(ms) + " ms predicted, ";
  if (why.bound_ms > 0 && ms < why.bound_ms) {
    return text + "faster than any plan on " + number_word(why.devices.size()) +
           " ranks (at least " + ms_digits(why.bound_ms) + " ms)";
  }
  if (std::abs(ms - plan_ms) <= kEqualLatencies * plan_ms) return text + "as fast as " + plan;
  return text + (ms < plan_ms ? "faster than " : "slower than ") + plan;
}

/// Returns the number of columns of a text in UTF-8 without wide characters.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

/// Returns lines of at most so many columns, but for longer words; all but the first are indented.
std::string folded_sentence(const std::string& sentence, std::size_t columns) {
  std::string text, line;
  for (std::size_t begin = 0; begin < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
    const std::string word = sentence.substr(begin, end - begin);
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > columns) {
      text += line + "\n";
      line = "  " + word;
    } else {
      line += (line.empty() ? "" : " ") + word;
    }
    begin = end + 1;
  }
  return text + line + "\n";
}

}  // namespace

std::vector<std::string> sentences(const Why& why, const Graph& graph) {
  std::vector<std::string> all;
  if (why.limits && graph.size() > 0) {
    all.push_back(limit_words(why, graph));
    all.push_back(one_device_words(why));
  }
  if (why.gains && !why.gains->gains.empty()) all.push_back(gains_words(why));
  all.push_back(waits_words(why, graph));
  if (why.threads) all.push_back(threads_words(why));
  std::erase(all, "");
  return all;
}

std::string why_text(const Why& why, const Graph& graph, std::size_t columns) {
  std::string text;
  for (const std::string& sentence : sentences(why, graph)) {
    text += folded_sentence(sentence, columns);
  }
  return text;
}

}  // namespace hios
