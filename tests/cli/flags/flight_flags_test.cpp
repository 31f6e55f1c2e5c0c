#include "cli/flags/flight_flags.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "hios/flight/memory.h"
#include "support/programs/temporary_folder.h"
#include "support/programs/variable.h"

namespace hios::cli {
namespace {

struct RecordFolder {
  std::string folder;
  bool own = false, enabled = false;
  bool operator==(const RecordFolder&) const = default;
};

std::ostream& operator<<(std::ostream& out, const RecordFolder& is) {
  return out << is.folder << (is.own ? ", own" : "") << (is.enabled ? ", enabled" : "");
}

RecordFolder folder_of(std::vector<const char*> words) {
  words.insert(words.begin(), "/bin/hios-run");
  flight::Recorder recorder;
  prepare_record(recorder, static_cast<int>(words.size()), words.data());
  return {recorder.memory()->folder.get(), recorder.memory()->own_folder, recorder.enabled()};
}

TEST(FlightFolder, IsTheUsersForTheStateOfPrograms) {
  const test::TemporaryFolder folder;
  const std::string is_there = folder.path().string();
  const test::Variable state("XDG_STATE_HOME", "/s"), home("HOME", is_there);
  EXPECT_EQ(folder_of({}), (RecordFolder{"/s/hios", true, true}));
  for (const auto& none : {std::optional<std::string>(), std::optional<std::string>(""),
                           std::optional<std::string>("relative")}) {
    const test::Variable other("XDG_STATE_HOME", none);
    EXPECT_EQ(folder_of({}), (RecordFolder{is_there + "/.local/state/hios", true, true}));
    const test::Variable homeless("HOME", none);
    EXPECT_EQ(folder_of({}), (RecordFolder{"", true, true})) << "which the reporter says";
    const test::Variable absent("HOME", is_there + "/absent");
    EXPECT_EQ(folder_of({}), (RecordFolder{"", true, true})) << "it is not made";
  }
}

TEST(FlightFolder, IsTheOneThatIsGiven) {
  const test::Variable state("XDG_STATE_HOME", "/s");
  EXPECT_EQ(folder_of({"--flight-record", "/r"}), (RecordFolder{"/r", false, true}));
  EXPECT_EQ(folder_of({"--flight-record=/r"}), (RecordFolder{"/r", false, true}));
  EXPECT_EQ(folder_of({"--flight-record", "off"}), (RecordFolder{"", false, false}));
  EXPECT_EQ(folder_of({"--explain", "a.json"}), (RecordFolder{"", false, true}));
}

}  // namespace
}  // namespace hios::cli
