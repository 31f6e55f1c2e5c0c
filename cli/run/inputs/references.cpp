#include "cli/run/inputs/references.h"

#include <algorithm>
#include <cstdio>

#include "cli/run/inputs/given_inputs.h"
#include "hios/base/error.h"
#include "hios/base/files/npy.h"

namespace hios::cli {
namespace {

std::vector<std::string> output_names(const Model& model) {
  std::vector<std::string> names;
  for (const NamedOutput& output : model.named_outputs()) names.push_back(output.name);
  return names;
}

/// Returns the output that a --reference is for.
std::size_t output_of(const FileForName& given, const std::string& flag,
                      const std::vector<std::string>& names) {
  if (given.name.empty() && names.size() == 1) return 0;
  if (given.name.empty()) {
    throw InputError(flag + ": the model has the outputs " + names_text(names) +
                     ": say which of them, as in --reference " + names.front() + ":" + given.file);
  }
  const auto found = std::ranges::find(names, given.name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw InputError(flag + ": the model has no output '" + printable(given.name) + "', only " +
                   names_text(names));
}

std::vector<float> read_reference(const std::string& file, const NamedOutput& output,
                                  const ReadLimits& limits) {
  try {
    return read_array(file, output.dims, "output '" + printable(output.name) + "' has", limits);
  } catch (const ArraySizeError& error) {
    throw InputError(std::string(error.what()) + "; --outputs FOLDER writes files of this size");
  }
}

}  // namespace

std::vector<Reference> read_references(const Flags& flags, const Model& model,
                                       const ReadLimits& limits) {
  const std::vector<std::string> names = output_names(model);
  std::vector<Reference> references;
  for (const std::string& word : flags.repeated("reference")) {
    const FileForName given = split_name(word, names);
    const std::string flag = "--reference " + printable(word, 200);
    const std::size_t output = output_of(given, flag, names);
    const auto same = [&](const Reference& other) { return other.output == output; };
    if (std::ranges::any_of(references, same)) {
      throw InputError(flag + ": output '" + printable(names[output]) +
                       "' has a reference already: leave one of them out");
    }
    references.push_back(
        {output, given.file, read_reference(given.file, model.named_outputs()[output], limits)});
  }
  return references;
}

std::vector<ReportReference> compare_references(std::span<const Reference> references,
                                                const Model& model,
                                                std::span<const std::vector<float>> outputs,
                                                const job::Tolerance& tolerance) {
  std::vector<ReportReference> compared;
  for (const Reference& each : references) {
    const job::Comparison found = job::compare(outputs[each.output], each.values, tolerance);
    compared.push_back({.output = model.named_outputs()[each.output].name,
                        .file = each.file,
                        .max_abs = found.max_abs,
                        .max_rel = found.max_rel,
                        .atol = tolerance.atol,
                        .rtol = tolerance.rtol,
                        .outside = found.outside,
                        .bitwise = found.bitwise});
  }
  return compared;
}

std::string reference_text(const ReportReference& reference) {
  char numbers[200];
  std::snprintf(numbers, sizeof numbers,
                "largest error %.3g (relative %.3g), %s (%.3g + %.3g of the value)",
                reference.max_abs, reference.max_rel,
                !reference.passed() ? "BEYOND THE TOLERANCE"
                : reference.bitwise ? "bit for bit the same"
                                    : "within the tolerance",
                reference.atol, reference.rtol);
  return "output '" + printable(reference.output) + "' compared with " +
         printable(reference.file, 200) + ": " + numbers;
}

}  // namespace hios::cli
