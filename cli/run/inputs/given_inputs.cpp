#include "cli/run/inputs/given_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

#include "cli/flags/model_flags.h"
#include "cli/process/commands.h"
#include "hios/base/error.h"
#include "hios/base/files/npy.h"
#include "hios/model/named_inputs.h"

namespace hios::cli {
namespace {

std::vector<std::string> input_names(std::span<const NamedInput> inputs) {
  std::vector<std::string> names;
  for (const NamedInput& input : inputs) names.push_back(input.name);
  return names;
}

/// "the model has one input, 'x'", or several.
std::string inputs_text(std::span<const NamedInput> inputs) {
  const std::string names = names_text(input_names(inputs));
  return inputs.size() == 1 ? "the model has one input, " + names
                            : "the model has the inputs " + names;
}

/// The files of --input, by input.
using FilesByInput = std::vector<std::optional<std::string>>;

/// Returns the file that is given for each input.
FilesByInput files_of(const std::vector<std::string>& words, std::span<const NamedInput> inputs) {
  if (inputs.size() == 1 && words.size() > 1) {
    throw InputError("--input is given " + std::to_string(words.size()) + " times, and " +
                     inputs_text(inputs) + " (hios run makes a batch of several pictures)");
  }
  FilesByInput files(inputs.size());
  const std::vector<std::string> names = input_names(inputs);
  for (const std::string& word : words) {
    const FileForName given = split_name(word, names);
    const std::string flag = "--input " + printable(word, 200) + ": ";
    const auto found = given.name.empty() && inputs.size() == 1
                           ? inputs.begin()
                           : std::ranges::find(inputs, given.name, &NamedInput::name);
    if (found == inputs.end() && given.name.empty()) {
      throw InputError(flag + inputs_text(inputs) + ": say which of them, as in --input " +
                       inputs.front().name + ":" + given.file);
    }
    if (found == inputs.end()) {
      throw InputError(flag + inputs_text(inputs) + ", not '" + printable(given.name) + "'");
    }
    std::optional<std::string>& file = files[static_cast<std::size_t>(found - inputs.begin())];
    if (file) {
      throw InputError(flag + "input '" + printable(found->name) +
                       "' has a file already: leave one of them out");
    }
    file = given.file;
  }
  return files;
}

/// Throws InputError unless all inputs are given: one of random numbers next to others that are
/// not would be a result of neither.
void require_all(const FilesByInput& files, std::span<const NamedInput> inputs) {
  std::vector<std::string> missing;
  std::string words;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i]) continue;
    missing.push_back(inputs[i].name);
    words += " --input " + shell_word(inputs[i].name + ":FILE");
  }
  if (missing.empty()) return;
  throw InputError("--input: no file for " + names_text(missing) +
                   ": give all inputs or none; add" + words);
}

/// Throws InputError for a number that the author's file has no place for.
void check_numbers(const std::string& file, const NamedInput& input,
                   const std::vector<float>& values) {
  if (input.below == 0) return;
  const auto rows = static_cast<float>(input.below);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float value = values[i];
    const bool whole = std::isfinite(value) && std::trunc(value) == value;
    const bool is_row = !input.is_index || (value >= -rows && value < rows);
    const bool is_truth = !input.is_truth || value == 0 || value == 1;
    if (whole && is_row && is_truth) continue;
    char number[40];
    std::snprintf(number, sizeof number, "%.9g", static_cast<double>(value));
    throw InputError(printable(file, 200) + ": holds " + number + " at " +
                     index_text(i, input.dims) + ", and input '" + printable(input.name) + "' " +
                     (!is_truth ? "takes truth values, 0 and 1"
                      : !whole  ? "takes whole numbers"
                                : "looks up a table of " + std::to_string(input.below) + " rows"));
  }
}

std::vector<float> read_input(const Flags& flags, const Network& network, const std::string& file,
                              const NamedInput& input, const ReadLimits& limits) {
  const bool one = network.model.named_inputs().size() == 1;
  const std::string who = one ? "the model" : "input '" + printable(input.name) + "'";
  try {
    std::vector<float> values = read_array(file, input.dims, who + " takes", limits);
    check_numbers(file, input, values);
    return in_memory_order(std::move(values), input.dims);
  } catch (const PictureError& error) {
    if (!one) throw;
    throw InputError(std::string(error.what()) + "; this converts it: hios run " +
                     model_words(flags, network.model, network.coarse.graph) + " --input " +
                     shell_word(file));
  } catch (const ArraySizeError& error) {
    if (!one) throw;
    throw InputError(std::string(error.what()) +
                     "; hios run --input converts pictures, and this makes an input of zeros: "
                     "head -c " +
                     std::to_string(error.bytes) + " /dev/zero > zeros.bin");
  }
}

}  // namespace

/// Returns names for people: "'a', 'b' and 'c'".
std::string names_text(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0                  ? ""
             : i + 1 == names.size() ? " and "
                                     : ", ") +
            ("'" + printable(names[i]) + "'");
  }
  return text;
}

std::vector<float> read_given_inputs(const Flags& flags, const Network& network,
                                     const ReadLimits& limits) {
  const std::vector<std::string> words = flags.repeated("input");
  if (words.empty()) return {};
  const std::span<const NamedInput> inputs = network.model.named_inputs();
  const FilesByInput files = files_of(words, inputs);
  require_all(files, inputs);
  if (inputs.size() == 1) return read_input(flags, network, *files[0], inputs[0], limits);
  const std::vector<InputPlace> places = places_of(inputs);
  const std::int64_t count = network.model.tensor(network.model.input()).shape.elements();
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < inputs.size(); ++i)
    put(read_input(flags, network, *files[i], inputs[i], limits), places[i], values);
  return values;
}

}  // namespace hios::cli
