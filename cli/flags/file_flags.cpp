#include "cli/flags/file_flags.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/files/streams.h"

// Two names are of the same file if their canonical paths are equal, which follows links and covers
// files that are yet to be written, or if the file system says so, which covers hard links. An
// output is written through a link, so links in an output folder are followed, too.
// tests/cli/flags/file_flags_test.cpp.
namespace hios::cli {
namespace {

namespace fs = std::filesystem;

struct ResolvedFile {
  const NamedFile* named;
  fs::path path;  ///< canonical as far as it exists
};

/// Returns nothing for a default that cannot be resolved: its use fails with a message.
std::optional<ResolvedFile> resolve(const NamedFile& file) {
  std::error_code error;
  const fs::path whole = fs::absolute(file.name, error);
  if (!error) {
    const fs::path canonical = fs::weakly_canonical(whole, error);
    return ResolvedFile{&file, error ? whole.lexically_normal() : canonical};
  }
  if (file.by_default) return {};
  throw InputError("--" + file.flag + " " + printable(file.name, 200) +
                   ": the working folder is not there any more; change to another");
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return a == b || (fs::equivalent(a, b, error) && !error);
}

/// Returns true if the folder's flag writes this file.
bool writes_in_folder(const ResolvedFile& folder, const ResolvedFile& file) {
  const DeclaredFile& declared = *folder.named->declared;
  if (declared.role() != FileRole::kOutputFolder) return false;
  if (same_file(folder.path, file.path.parent_path()) &&
      declared.writes(file.path.filename().string()))
    return true;
  std::error_code error;
  for (fs::directory_iterator entry(folder.path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (declared.writes(entry->path().filename().string()) && same_file(entry->path(), file.path))
      return true;
  }
  return false;
}

void check_pair(const ResolvedFile& a, const ResolvedFile& b) {
  const auto flag = [](const ResolvedFile& file) { return "--" + file.named->flag; };
  const auto name = [](const ResolvedFile& file) { return printable(file.named->name, 200); };
  if (!a.named->declared->is_written() && !b.named->declared->is_written()) return;
  const auto is_folder = [](const ResolvedFile& file) {
    return file.named->declared->role() == FileRole::kOutputFolder;
  };
  if (is_folder(a) && is_folder(b)) return;  // their files have different names
  if (same_file(a.path, b.path)) {
    throw InputError(flag(a) + " and " + flag(b) + " name the same file, " + name(b));
  }
  for (const auto& [folder, file] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (!writes_in_folder(*folder, *file)) continue;
    throw InputError(flag(*file) + " names a file that " + flag(*folder) + " " + name(*folder) +
                     " writes, " + name(*file));
  }
}

/// Returns true if the flag may replace a file that is there now.
bool may_replace(const ResolvedFile& file) {
  const NamedFile& named = *file.named;
  if (!named.declared->is_written() || named.by_default) return false;
  std::error_code error;
  if (named.declared->role() != FileRole::kOutputFolder) return fs::exists(file.path, error);
  fs::directory_iterator entry(file.path, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (named.declared->writes(entry->path().filename().string())) return true;
  }
  return false;
}

/// Throws InputError where an output would replace a file that is read with the input. To find
/// these may take reading the input, which is left out where nothing is replaced.
void check_also_read(const ResolvedFile& input, std::span<const ResolvedFile> outputs) {
  if (input.named->declared->is_written() || outputs.empty()) return;
  for (const fs::path& path : input.named->declared->also_read(input.named->name)) {
    NamedFile also = *input.named;
    also.name = path.string();
    const auto file = resolve(also);
    for (const ResolvedFile& output : outputs) {
      if (!file || (!same_file(output.path, file->path) && !writes_in_folder(output, *file)))
        continue;
      throw InputError("--" + output.named->flag + " " + printable(output.named->name, 200) +
                       " would replace a file that --" + input.named->flag + " " +
                       printable(input.named->name, 200) + " reads, " + printable(also.name, 200) +
                       ": name another");
    }
  }
}

bool is_stream_name(const std::string& name) {
  return name == kStandardInput || name == kStandardOutput;
}

/// Throws InputError where "-" is no stream for the flag: it takes a folder, or a word.
void refuse_unless_stream(const NamedFile& file) {
  if (file.declared->role() == FileRole::kOutputFolder) {
    throw InputError("--" + file.flag +
                     " takes a folder, and - is a stream: name a folder (./- is one called so)");
  }
  if (!file.declared->names_file(file.name)) {
    throw InputError("--" + file.flag + " is not read from standard input (-): name a file");
  }
}

}  // namespace

bool is_missing(const std::string& file) {
  std::error_code error;
  return !is_standard_input(file) && !fs::exists(file, error) && !error;
}

FileValue* input_file(const char* name, FileValue::Test names_file) {
  return new FileValue(FileRole::kInput, name, names_file, nullptr);
}

NamedFileValues* named_input_files(const char* name) { return new NamedFileValues(name); }

FileForName split_name(const std::string& text) {
  std::error_code unknown;
  if (fs::exists(text, unknown)) return {"", text};
  std::size_t colon = text.find(':');
  while (colon != std::string::npos && !fs::exists(text.substr(colon + 1), unknown))
    colon = text.find(':', colon + 1);
  if (colon == std::string::npos) colon = text.rfind(':');
  if (colon == std::string::npos) return {"", text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

FileForName split_name(const std::string& text, std::span<const std::string> names) {
  FileForName found = split_name(text);
  if (found.name.empty()) return found;
  std::optional<FileForName> longest;
  bool exists = false;
  for (const std::string& name : names) {
    if (!text.starts_with(name + ":")) continue;
    const std::string file = text.substr(name.size() + 1);
    std::error_code unknown;
    const bool is_there = fs::exists(file, unknown);
    if (longest && (exists != is_there ? exists : longest->name.size() > name.size())) continue;
    longest = {name, file};
    exists = is_there;
  }
  return longest.value_or(found);
}

FileValue* output_file(const char* name) {
  return new FileValue(FileRole::kOutput, name, nullptr, nullptr);
}

FileValue* output_folder(const char* name, FileValue::Test writes, FileValue::Test names_file) {
  return new FileValue(FileRole::kOutputFolder, name, names_file, writes);
}

bool has_dot_or_slash(const std::string& value) {
  return value.find_first_of("./") != std::string::npos;
}

std::vector<StreamName> streams_of(std::span<const NamedFile> files) {
  std::vector<StreamName> named;
  std::string reads, writes;  // the flags
  for (const NamedFile& file : files) {
    if (is_stream_name(file.name)) named.push_back({file.flag, "./" + file.name});
    if (file.name != "-") continue;
    refuse_unless_stream(file);
    const bool written = file.declared->is_written();
    std::string& other = written ? writes : reads;
    if (!other.empty()) {
      throw InputError("--" + other + " and --" + file.flag + " both " +
                       (written ? "write standard output" : "read standard input") +
                       " (-): give one of them a file");
    }
    other = file.flag;
    named.push_back({file.flag, std::string(written ? kStandardOutput : kStandardInput)});
  }
  return named;
}

void check_distinct_files(std::span<const NamedFile> files) {
  std::vector<ResolvedFile> resolved;
  for (const NamedFile& file : files) {
    if (!file.declared->names_file(file.name) || is_stream_name(file.name)) continue;
    if (const auto one = resolve(file)) resolved.push_back(*one);
  }
  for (std::size_t i = 0; i < resolved.size(); ++i) {
    for (std::size_t j = i + 1; j < resolved.size(); ++j) check_pair(resolved[i], resolved[j]);
  }
  std::vector<ResolvedFile> replacing;
  std::ranges::copy_if(resolved, std::back_inserter(replacing), may_replace);
  for (const ResolvedFile& file : resolved) check_also_read(file, replacing);
}

}  // namespace hios::cli
