#include "cli/schedule/results/sweep.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "hios/base/error.h"
#include "hios/base/files/streams.h"

namespace hios::cli {
namespace {

constexpr std::string_view kPlaceholder = "{devices}";
/// Flags of files of one schedule.
constexpr const char* kOfOneSchedule[] = {"output", "timeline"};

/// Throws InputError where a flag does not go with several numbers of devices.
void require_for_each(const Flags& flags) {
  for (const char* flag : kOfOneSchedule) {
    const auto name = flags.optional_text(flag);
    if (!name || name->find(kPlaceholder) != std::string::npos) continue;
    if (is_standard_output(*name)) {
      throw InputError("--" + std::string(flag) + " - is one stream, and --devices " +
                       flags.text("devices") +
                       " makes several plans: name files (plan-{devices}.json)");
    }
    throw InputError("--" + std::string(flag) + " " + printable(*name, 200) +
                     " is one file, and --devices " + flags.text("devices") +
                     " makes several plans: put {devices} into its name (plan-{devices}.json)");
  }
  for (const char* flag : {"export-graph", "export-platform", "export-model"}) {
    if (!flags.given(flag)) continue;
    throw InputError("--" + std::string(flag) + " writes one problem, and --devices " +
                     flags.text("devices") + " makes several: give it one number");
  }
}

}  // namespace

std::string with_placeholder(std::string name, std::string_view placeholder,
                             const std::string& word) {
  for (std::size_t at = 0; (at = name.find(placeholder, at)) != std::string::npos;
       at += word.size()) {
    name.replace(at, placeholder.size(), word);
  }
  return name;
}

std::vector<Flags> flags_by_devices(const Flags& flags) {
  if (!flags.written("devices")) return {flags};
  const std::vector<std::string> numbers = flags.list("devices");
  if (numbers.size() > 1) require_for_each(flags);
  std::set<std::int64_t> seen;
  std::vector<Flags> parts;
  for (const std::string& number : numbers) {
    std::vector<std::pair<std::string, std::string>> words = {{"devices", number}};
    for (const char* flag : kOfOneSchedule) {
      if (const auto name = flags.optional_text(flag))
        words.emplace_back(flag, with_placeholder(*name, kPlaceholder, number));
    }
    parts.push_back(flags.with(words));
    if (!seen.insert(parts.back().integer("devices", 1, 65536)).second)
      throw InputError("--devices names " + number + " twice");
    check_distinct_files(parts.back().files());
  }
  return parts;
}

}  // namespace hios::cli
