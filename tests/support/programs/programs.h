#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hios/base/json/json_io.h"
#include "support/programs/process.h"
#include "support/programs/temporary_folder.h"

/// The three programs as their users start them, in a folder of their own.
namespace hios::test {

/// A fresh folder, removed at the end.
class TestFolder {
 public:
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const;
  /// Every file there, by name: no other file may be left.
  std::vector<std::string> files() const;

 private:
  TemporaryFolder folder_;
};

using Words = std::vector<std::string>;

ProcessResult hios_schedule(const Words& flags);
/// With several ranks under mpirun; one rank is started directly. Ranks share cores if they must.
ProcessResult hios_profile(std::size_t ranks, Words flags, ProcessOptions options = {});
ProcessResult hios_run(std::size_t ranks, Words flags, ProcessOptions options = {});

/// Words, one list after the other.
Words operator+(Words left, const Words& right);

Json read(const std::string& file);

}  // namespace hios::test
