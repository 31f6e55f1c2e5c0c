// What programs say about the needs of libraries, and that they have words for every one.
#include "cli/remedies.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "hios/graph/graph.h"
#include "hios/profile/profile_gaps.h"
#include "support/message.h"

namespace hios::cli {
namespace {

Device device(const std::string& kind, int threads, Precision precision = Precision::kFp32) {
  Device made;
  made.name = kind + "0";
  made.kind = kind;
  made.threads = threads;
  made.precision = precision;
  return made;
}

std::string line_for(const Platform& platform, std::size_t device, const std::string& flags = {}) {
  const Graph graph("net", {}, {});
  return error_line(
      InputError("no time", measurement_of(DeviceId(device), platform, "p.json", graph)), flags);
}

TEST(Remedies, AMeasurementIsACommand) {
  EXPECT_EQ(line_for(Platform::homogeneous(3, "cpu", 2, 8), 1),
            "no time; measure it with: mpirun -np 3 hios-profile --model net --threads 2 --output "
            "p.json --update");
  EXPECT_EQ(line_for(Platform({device("cpu", 1, Precision::kFp16)}), 0, "--model net --height 48"),
            "no time; measure it with: mpirun -np 1 hios-profile --model net --height 48 --backend "
            "reference --threads 1 --math fp16 --output p.json --update");
  EXPECT_EQ(line_for(Platform({device("gpu", 0, Precision::kTf32)}), 0),
            "no time; measure it with: mpirun -np 1 hios-profile --model net --backend cuda --math "
            "tf32 --output p.json --update");
}

TEST(Remedies, OfAMixedPlatformAllBackendsAreNamed) {
  const Platform mixed({device("gpu", 0), device("cpu", 4)});
  for (const std::size_t each : {0, 1}) {
    EXPECT_EQ(line_for(mixed, each),
              "no time; measure it with: mpirun -np 2 hios-profile --model net --backend cuda,cpu "
              "--threads 4 --output p.json --update");
  }
}

TEST(Remedies, OfJobsNameTheirFlags) {
  const auto line = [](Need need) { return error_line(InputError("no", std::move(need))); };
  EXPECT_EQ(line({"ranks", {{"ranks", "2"}}}), "no: start it with mpirun -np 2");
  EXPECT_EQ(line({"check", {}}), "no; hios-schedule --check lists them");
  EXPECT_EQ(line({"device-kind", {{"kind", "cpu"}, {"backends", ""}}}),
            "no: choose another --backend, or schedule for --kind cpu");
  EXPECT_EQ(line({"device-kind", {{"kind", "cpu"}, {"backends", "cpu,cpu:avx2"}}}),
            "no: start it with --backend cpu,cpu:avx2, or schedule for --kind cpu");
  EXPECT_EQ(line({"device-memory", {{"algorithms", ""}}}),
            "no: schedule for more devices, or for more memory");
  EXPECT_NE(line({"device-memory", {{"algorithms", "chosen"}}}).find("leave out --profile"),
            std::string::npos);
  EXPECT_EQ(line({"device-precision", {}}),
            "no: choose another --backend, or schedule again with another --math");
  EXPECT_EQ(line({"precision", {{"has", "fp32, tf32"}, {"backends", "reference, cuda"}}}),
            "no: choose --math fp32, tf32 or --backend reference or --backend cuda");
  EXPECT_EQ(line({"precision", {{"has", "fp32"}, {"backends", ""}}}), "no: choose --math fp32");
  EXPECT_NE(line({"named-devices", {}}).find("--platform"), std::string::npos);
}

TEST(Remedies, NoNeedLeavesTheTextAsItIs) {
  EXPECT_EQ(error_line(InputError("no")), "no");
  EXPECT_EQ(error_line(RunError("no")), "no");
}

TEST(Remedies, OfTheSurroundingsNameACommand) {
  const auto line = [](Need need) { return error_line(RunError("slow", std::move(need))); };
  EXPECT_NE(line({"shared-cores", {}}).find("--threads"), std::string::npos);
  EXPECT_NE(line({"core-quota", {}}).find("more cores"), std::string::npos);
  EXPECT_NE(line({"governor", {}}).find("cpupower frequency-set -g performance"),
            std::string::npos);
  EXPECT_NE(line({"cuda-aware", {}}).find("CUDA-aware MPI"), std::string::npos);
  EXPECT_NE(line({"alike-hosts", {}}).find("alike"), std::string::npos);
  const auto copies = [&](const char* library, const char* scope) {
    return line({"single-copy", {{"ptrace_scope", scope}, {"library", library}}});
  };
  EXPECT_NE(copies("Open MPI 4.1.4", "").find("OMPI_MCA_btl_vader_single_copy_mechanism unset"),
            std::string::npos);
  EXPECT_NE(copies("Open MPI 5.0.11", "").find("OMPI_MCA_smsc unset"), std::string::npos);
  EXPECT_NE(copies("MPICH 5.0.2", "").find("MPIR_CVAR_CH4_CMA_ENABLE unset"), std::string::npos);
  EXPECT_EQ(copies("Open MPI 4.1.4", "").find("yama"), std::string::npos);
  EXPECT_NE(copies("Open MPI 4.1.4", "2").find("ptrace_scope to 0 (it is 2)"), std::string::npos);
}

TEST(Remedies, OfTheEngineNameItsFlags) {
  const auto not_built = [](const char* name, const char* instead) {
    const Need need{"left-out-backend", {{"name", name}, {"instead", instead}}};
    return error_line(InputError("not built", need));
  };
  EXPECT_EQ(not_built("cuda", "cpu"),
            "not built; build with cmake --preset cuda where CUDA 13 and cuDNN 9 are installed, or "
            "use --backend cpu");
  EXPECT_EQ(not_built("cpu", "reference"),
            "not built; install libdnnl-dev and build with cmake -DHIOS_CPU=ON, or use --backend "
            "reference");
  EXPECT_EQ(not_built("mine", "cpu"), "not built, or use --backend cpu");
  EXPECT_EQ(error_line(InputError("too old", Need{"build-for-gpu", {{"instead", "cpu"}}})),
            "too old; build for it with cmake -DCMAKE_CUDA_ARCHITECTURES, or use --backend cpu");
  EXPECT_EQ(error_line(InputError("2 for 3 ranks", Need{"one-backend-a-rank"})),
            "2 for 3 ranks: give --backend one name for all, or one a rank");
  EXPECT_EQ(error_line(InputError("made for another", Need{"other-gpu"})),
            "made for another: run it where that GPU is, or measure with hios-profile and schedule "
            "again here");
  EXPECT_EQ(error_line(InputError("no GPU", Need{"gpu", {{"instead", "cpu"}}})),
            "no GPU; use --backend cpu on machines without a GPU");
  EXPECT_EQ(error_line(InputError("too few", Need{"cores"})),
            "too few: use fewer ranks or --threads, give mpirun --bind-to none, or accept shared "
            "cores with --oversubscribe");
  const auto made = [](const char* merge) {
    return error_line(InputError("made otherwise", Need{"merge", {{"merge", merge}}}));
  };
  EXPECT_EQ(made("siblings"), "made otherwise: give --merge siblings, or schedule again without");
  EXPECT_EQ(made("none"), "made otherwise: leave --merge out, or schedule again with it");
  EXPECT_EQ(error_line(RunError("one of these", Need{"failed-operator"})),
            "one of these: --blocking says which of these failed");
}

TEST(Remedies, AreAddedOnce) {
  const std::string text = test::message_of([] {
    with_remedies("", [] {
      with_remedies("", []() -> int { throw InputError("a.json: exists", Need{"replacement"}); });
      return 0;
    });
  });
  EXPECT_EQ(text, "a.json: exists or replace it with --force");
}

TEST(Remedies, KnowEveryNeedOfTheLibraries) {
  namespace fs = std::filesystem;
  std::size_t seen = 0;
  const std::regex need("\\bNeed\\{\"([^\"]*)\"");
  for (const char* floor : {"hios", "scheduler", "mpi", "engine"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(HIOS_SOURCE_DIR) / floor)) {
      if (!entry.is_regular_file()) continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::string source = text.str();
      for (std::sregex_iterator it(source.begin(), source.end(), need), end; it != end; ++it) {
        ++seen;
        EXPECT_TRUE(has_remedy(it->str(1))) << entry.path() << " needs " << it->str(1);
      }
    }
  }
  EXPECT_GE(seen, 3u);
}

}  // namespace
}  // namespace hios::cli
