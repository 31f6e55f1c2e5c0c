#include "cli/schedule/list_algorithms.h"

#include "cli/table.h"
#include "scheduler/algorithms/scheduler.h"

namespace hios::cli {

namespace {

using scheduler::Algorithm;

std::string uses(const Algorithm& algorithm) {
  return std::string(algorithm.many_devices ? "several devices" : "one device") +
         (algorithm.streams ? ", several streams" : ", one stream");
}

std::string text(const Algorithm& algorithm) {
  const auto line = [](std::string name, const std::string& rest) {
    name.resize(std::max<std::size_t>(name.size(), 12), ' ');
    return name + " " + rest + "\n";
  };
  std::string lines = line(std::string(algorithm.name), std::string(algorithm.description));
  lines += line("", "uses " + uses(algorithm) + "; " + std::string(algorithm.constraints));
  for (const std::string& option : split(Options(algorithm.options).help(), '\n')) {
    if (!option.empty()) lines += line("", option);
  }
  return lines;
}

Json json(const OptionSpec& option) {
  Json described = {{"name", option.name}, {"help", option.help}};
  std::visit([&](const auto& value) { described["default"] = value; }, option.default_value);
  const Json& value = described["default"];
  if (value.is_number()) {
    described["min"] = option.min;
    described["max"] = option.max;
  }
  return described;
}

Json json(const Algorithm& algorithm) {
  Json options = Json::array();
  for (const OptionSpec& option : algorithm.options) options.push_back(json(option));
  return {{"name", algorithm.name},
          {"description", algorithm.description},
          {"many_devices", algorithm.many_devices},
          {"streams", algorithm.streams},
          {"constraints", algorithm.constraints},
          {"options", options}};
}

}  // namespace

int list_algorithms(const Common& common) {
  Table table({"algorithm", "description", "many_devices", "streams", "constraints"});
  Json list = Json::array();
  for (const Algorithm& algorithm : scheduler::all()) {
    show(text(algorithm));
    table.add({std::string(algorithm.name), std::string(algorithm.description),
               algorithm.many_devices ? "true" : "false", algorithm.streams ? "true" : "false",
               std::string(algorithm.constraints)});
    list.push_back(json(algorithm));
  }
  if (common.csv) write_text(*common.csv, table.csv(), common.existing);
  if (common.json) write_json(*common.json, {{"algorithms", list}}, common.existing);
  return 0;
}

}  // namespace hios::cli
