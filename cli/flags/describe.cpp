#include "cli/flags/describe.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/process/version.h"

namespace hios::cli {

namespace {

Json json_of(const FlagText& flag) {
  return {{"name", flag.name},         {"letter", flag.letter},     {"group", flag.group},
          {"argument", flag.argument}, {"optional", flag.optional}, {"default", flag.default_value},
          {"text", flag.text},         {"daily", flag.is_daily},    {"repeatable", flag.repeatable},
          {"file", flag.file},         {"values", flag.values}};
}

}  // namespace

Json description(const Flags& flags) {
  const ProgramText& program = flags.program_text();
  Json examples = Json::array(), described = Json::array();
  for (const Example& example : program.examples)
    examples.push_back({{"command", example.command}, {"result", example.result}});
  for (const FlagText& flag : flags.texts()) described.push_back(json_of(flag));
  const Json version = versions();
  return {{"program", program.program}, {"purpose", program.purpose}, {"usage", program.usage},
          {"examples", examples},       {"note", program.note},       {"version", version["hios"]},
          {"commit", commit()},         {"date", commit_date()},      {"flags", described}};
}

bool asks_for_description(int argc, const char* const* argv) {
  return std::any_of(argv + 1, argv + std::max(argc, 1),
                     [](std::string_view word) { return word == "--describe-flags"; });
}

int describe(const Flags& flags) {
  const std::string text = description(flags).dump(1) + "\n";
  const bool printed = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  constexpr int kFailure = 3;
  return printed ? 0 : kFailure;
}

}  // namespace hios::cli
