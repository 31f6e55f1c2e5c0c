#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

/// Flags that name files. Each is declared with the role of its file, so that no two flags of a
/// command line name the same file where one of them is written.
namespace hios::cli {

enum class FileRole {
  kInput,        ///< the file is read
  kOutput,       ///< the file is written
  kOutputFolder  ///< files in the folder are written
};

/// The role of the files that a flag names.
class DeclaredFile {
 public:
  using Test = bool (*)(const std::string&);
  using Files = std::vector<std::filesystem::path> (*)(const std::string&);

  DeclaredFile(FileRole the_role, Test file_test, Test write_test)
      : role_(the_role), names_file_(file_test), writes_(write_test) {}
  virtual ~DeclaredFile() = default;

  FileRole role() const { return role_; }
  bool is_written() const { return role_ != FileRole::kInput; }
  /// Returns true if a value is a file's name, and no word such as a built-in network's.
  bool names_file(const std::string& value) const { return !names_file_ || names_file_(value); }
  /// Returns true if a file of this name in the output folder may be written.
  bool writes(const std::string& file_name) const { return writes_ && writes_(file_name); }

  std::vector<std::filesystem::path> also_read(const std::string& value) const {
    return reads_also_ ? reads_also_(value) : std::vector<std::filesystem::path>{};
  }

 protected:
  Files reads_also_ = nullptr;

 private:
  FileRole role_;
  Test names_file_, writes_;
};

/// The declared value of a flag that names a file.
class FileValue : public boost::program_options::typed_value<std::string>, public DeclaredFile {
 public:
  FileValue(FileRole the_role, const char* shown_name, Test file_test, Test write_test)
      : typed_value(nullptr), DeclaredFile(the_role, file_test, write_test) {
    value_name(shown_name);
  }
  /// Declares a function that returns the other files which are read with the file of this name.
  FileValue* reads_also(Files files) {
    reads_also_ = files;
    return this;
  }
};

/// The declared values of a repeatable flag, each of them "FILE" or "NAME:FILE" (split_name).
class NamedFileValues : public boost::program_options::typed_value<std::vector<std::string>>,
                        public DeclaredFile {
 public:
  explicit NamedFileValues(const char* shown_name)
      : typed_value(nullptr), DeclaredFile(FileRole::kInput, is_no_stream, nullptr) {
    value_name(shown_name);
  }

 private:
  static bool is_no_stream(const std::string& value) { return value != "-"; }
};

/// A file that is given for something of this name; empty: it is given without a name.
struct FileForName {
  std::string name, file;
};

/// Splits "NAME:FILE" at the first colon with a file that exists after it, else at the last colon.
/// A text without a colon, or the whole name of a file that exists, has no NAME.
FileForName split_name(const std::string& text);
/// Does the same where NAME is one of these: the longest with a file that exists after its colon,
/// else the longest. A text that begins with none of them is split as above.
FileForName split_name(const std::string& text, std::span<const std::string> names);

/// Declares a file that is read; `name` is the value's in --help. `names_file` is true
/// for file names, where the flag also takes words.
FileValue* input_file(const char* name, FileValue::Test names_file = nullptr);

/// Declares files that are read, each perhaps for something with a name.
NamedFileValues* named_input_files(const char* name);

/// Declares a file that is written.
FileValue* output_file(const char* name);

/// Declares a folder in which files are written, if their names pass `writes`.
FileValue* output_folder(const char* name, FileValue::Test writes,
                         FileValue::Test names_file = nullptr);

/// Returns true if no file has this name, which is no stream's either.
bool is_missing(const std::string& file);

/// Returns true if a value that may also be a word names a file: it has a '.' or a '/'.
bool has_dot_or_slash(const std::string& value);

/// A file that a command line names.
struct NamedFile {
  std::string flag;
  std::string name;
  const DeclaredFile* declared = nullptr;
  bool by_default = false;  ///< the user did not write the flag
};

/// A flag whose file has another name for the program than on the command line.
struct StreamName {
  std::string flag, name;
};

/// Returns the names of standard input and output (hios/base/files/streams.h) for the flags that
/// say "-", and a path for a file that is called like one of them. Throws InputError where two
/// flags read, or two write, or a flag takes no stream.
std::vector<StreamName> streams_of(std::span<const NamedFile> files);

/// Throws InputError where two of the files are the same, by whatever path or link, and one of them
/// is written: an output would replace another, or an input. Of files in an output folder the same
/// holds, and of files that are read with an input.
void check_distinct_files(std::span<const NamedFile> files);

}  // namespace hios::cli
