#include "support/tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace hios::test {

namespace fs = std::filesystem;

std::string TreeFile::extension() const { return fs::path(name).extension(); }

bool TreeFile::is_header() const { return name.ends_with(".h") || name.ends_with(".cuh"); }

bool TreeFile::is_code() const {
  return is_header() || name.ends_with(".cpp") || name.ends_with(".cu");
}

std::vector<std::string_view> TreeFile::lines() const {
  std::vector<std::string_view> found;
  const std::string_view all = text;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\n', begin), all.size());
    found.push_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  return found;
}

std::vector<std::string> TreeFile::includes() const {
  constexpr std::string_view kInclude = "#include \"";
  std::vector<std::string> found;
  for (const std::string_view line : lines()) {
    if (!line.starts_with(kInclude)) continue;
    const std::string_view rest = line.substr(kInclude.size());
    found.emplace_back(rest.substr(0, rest.find('"')));
  }
  return found;
}

std::string text_of(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(fs::path(HIOS_SOURCE_DIR) / name).rdbuf();
  return text.str();
}

const std::vector<TreeFile>& tree() {
  static const std::vector<TreeFile> found = [] {
    const std::set<std::string> extensions = {".h",  ".cpp", ".cu", ".cuh",   ".py", ".sh",
                                              ".md", ".txt", ".in", ".cmake", ".tex"};
    const fs::path root = HIOS_SOURCE_DIR;
    std::vector<TreeFile> list;
    const auto add = [&](const fs::directory_entry& entry) {
      if (!entry.is_regular_file() || !extensions.contains(entry.path().extension())) return;
      const std::string inside = fs::relative(entry.path(), root).string();
      list.push_back({inside, text_of(inside)});
    };
    for (const auto& entry : fs::directory_iterator(root)) add(entry);
    for (const char* folder : {"hios", "scheduler", "mpi", "engine", "cli", "tests", "bench",
                               "cmake", "docs", "examples", "packaging", "python", "scripts", "slurm"}) {
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) add(entry);
    }
    std::ranges::sort(list, {}, &TreeFile::name);
    return list;
  }();
  return found;
}

const std::vector<TreeFile>& sources() {
  static const std::vector<TreeFile> found = [] {
    std::vector<TreeFile> list;
    std::ranges::copy_if(tree(), std::back_inserter(list), [](const TreeFile& file) {
      const std::string floor = file.name.substr(0, file.name.find('/'));
      return file.is_code() && std::ranges::find(kFloors, floor) != std::end(kFloors);
    });
    return list;
  }();
  return found;
}

void for_each_match(const std::string& text, const std::regex& pattern,
                    const std::function<void(const std::smatch&)>& visit) {
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it)
    visit(*it);
}

}  // namespace hios::test
