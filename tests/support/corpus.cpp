#include "support/corpus.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "hios/base/json/json_io.h"
#include "support/programs/temporary_folder.h"

namespace hios::test {
namespace {

std::string field_text(const Json& row, const char* key) {
  return row.contains(key) ? row[key].get<std::string>() : std::string();
}

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::string utf_16(const std::string& ascii) {
  std::string wide;
  for (const char c : ascii) wide += std::string{c, '\0'};
  return wide;
}

std::size_t position_of(const std::string& part, const std::string& base, const Json& row) {
  const std::size_t at = base.find(part);
  if (at == std::string::npos) throw std::runtime_error("no such text: " + row.dump());
  return at;
}

std::string edited(std::string base, const Json& row) {
  if (row.contains("utf16")) return utf_16(base);
  if (row.contains("append")) return base + field_text(row, "append");
  if (row.contains("drop_last")) return base.substr(0, base.size() - row["drop_last"].get<int>());
  if (row.contains("cut_before")) {
    return base.substr(0, position_of(field_text(row, "cut_before"), base, row));
  }
  std::string fresh = field_text(row, "with") + bytes_of(field_text(row, "hex"));
  const std::string fill = field_text(row, "fill");
  for (int i = row.value("times", 0); i > 0; --i) fresh += fill;
  fresh += field_text(row, "then");
  if (!row.contains("replace")) return fresh;
  const std::string old = field_text(row, "replace");
  const std::size_t at = position_of(old, base, row);
  if (row.contains("cut_after")) return base.substr(0, at) + fresh;
  return base.replace(at, old.size(), fresh);
}

}  // namespace

std::filesystem::path corpus() { return HIOS_SOURCE_DIR "/tests/corpus"; }

std::vector<BadFile> bad_files() {
  std::vector<BadFile> files;
  const Json expected = read_json(corpus() / "expected.json");
  for (const Json& row : expected["files"]) {
    const std::string name = row["file"];
    files.push_back(
        {name, row["kind"], field_text(row, "rule"), row["message"], content_of(corpus() / name)});
  }
  const Json edits = read_json(corpus() / "edits.json");
  for (const Json& row : edits["edits"]) {
    const std::string name = row["name"], base = row["base"];
    files.push_back({name + ".json", row["kind"], field_text(row, "rule"), row["message"],
                     edited(content_of(corpus() / base), row)});
  }
  return files;
}

std::vector<std::filesystem::path> found_files(const std::string& format) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(corpus() / "found")) {
    if (entry.path().filename().string().starts_with(format + "_")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace hios::test
