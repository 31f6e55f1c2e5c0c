#include "engine/cuda/operators/graph/engine_choice.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "engine/cuda/operators/convolution.h"

namespace hios::cuda::graph {
namespace {

std::int64_t integer_of(std::string_view text, const std::string& name) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) refuse_name(name);
  return value;
}

/// Parses "2=1,13=0".
std::vector<Knob> knobs_of(std::string_view text, const std::string& name) {
  std::vector<Knob> knobs;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) refuse_name(name);
    const int type = number_of(std::string(one.substr(0, equals)), name);
    if (!knobs.empty() && type <= knobs.back().type) refuse_name(name);
    knobs.push_back({type, integer_of(one.substr(equals + 1), name)});
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return knobs;
}

}  // namespace

std::string EngineChoice::name() const {
  std::string text = "graph " + std::to_string(engine);
  char before = ' ';
  for (const Knob& knob : knobs) {
    text += before + std::to_string(knob.type) + '=' + std::to_string(knob.value);
    before = ',';
  }
  if (!fused) text += " plain";
  if (added) text += " added";
  return text;
}

EngineChoice choice_named(const std::string& name) {
  std::vector<std::string> words = words_of(name);
  EngineChoice choice;
  if (!words.empty() && (words.back() == "plain" || words.back() == "added")) {
    choice.fused = words.back() != "plain";
    choice.added = words.back() == "added";
    words.pop_back();
  }
  if (words.empty() || words.size() > 2) refuse_name(name);
  choice.engine = integer_of(words[0], name);
  if (choice.engine < 0) refuse_name(name);
  if (words.size() == 2) choice.knobs = knobs_of(words[1], name);
  return choice;
}

bool fits(const EngineNotes& notes, Precision precision) {
  if (notes.narrower_sums) return false;
  switch (precision) {
    case Precision::kFp32:
      return !notes.tensor_cores && !notes.narrower_inputs;
    case Precision::kTf32:
      return true;
    default:
      // A transform of halves is rounded to halves again, so the result would be rounded more than
      // once.
      return !notes.narrower_inputs && !notes.transforms;
  }
}

}  // namespace hios::cuda::graph
