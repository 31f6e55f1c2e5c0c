// The words of programs for the needs of libraries.
#include "cli/remedies.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "hios/base/need.h"
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

/// A program that was started in a shell, on a host with so many cores.
Invocation on_cores(std::size_t cores) {
  return {.words = {"hios-run", "--schedule", "my plan.json"},
          .mpi = mpi::Library::kOpenMpi,
          .cores = cores};
}

std::string line_for(const Platform& platform, std::size_t device, const std::string& flags = {},
                     std::size_t cores = 64, const std::string& profile = "p.json") {
  const Graph graph("net", {}, {});
  return error_line(
      InputError("no time", measurement_of(DeviceId(device), platform, profile, graph)), flags,
      on_cores(cores));
}

TEST(Remedies, AMeasurementIsACommand) {
  EXPECT_EQ(line_for(Platform::homogeneous(3, "cpu", 2, 8), 1),
            "no time; measure it with: mpirun -np 3 --bind-to none hios-profile --model net "
            "--threads 2 --output p.json --update");
  EXPECT_EQ(line_for(Platform({device("cpu", 1, Precision::kFp16)}), 0, "--model net --height 48"),
            "no time; measure it with: hios-profile --model net --height 48 --backend "
            "reference --threads 1 --math fp16 --output p.json --update");
  EXPECT_EQ(line_for(Platform({device("gpu", 0, Precision::kTf32)}), 0),
            "no time; measure it with: hios-profile --model net --backend cuda --math "
            "tf32 --output p.json --update");
}

TEST(Remedies, AMeasurementSharesCoresWhereThereAreTooFew) {
  EXPECT_EQ(line_for(Platform::homogeneous(2, "cpu", 2, 8), 1, {}, 3),
            "no time; measure it with: mpirun -np 2 --bind-to none --oversubscribe hios-profile "
            "--model net --threads 2 --oversubscribe --output p.json --update");
}

TEST(Remedies, AMeasurementIsWrittenToNoStream) {
  EXPECT_EQ(line_for(Platform::homogeneous(1, "cpu", 1, 1), 0, {}, 1, "standard input"),
            "no time; measure it with: hios-profile --model net --threads 1 --output profile.json "
            "--update");
}

TEST(Remedies, AMeasurementQuotesNamesOfFiles) {
  EXPECT_EQ(
      line_for(Platform::homogeneous(1, "cpu", 1, 1), 0, "--model 'a b.onnx'", 8, "it's.json"),
      "no time; measure it with: hios-profile --model 'a b.onnx' --threads 1 --output "
      "'it'\\''s.json' --update");
}

TEST(Remedies, NameAllBackendsOfAMixedPlatform) {
  const Platform mixed({device("gpu", 0), device("cpu", 4)});
  for (const std::size_t each : {0, 1}) {
    EXPECT_EQ(line_for(mixed, each),
              "no time; measure it with: mpirun -np 2 --bind-to none hios-profile --model net "
              "--backend cuda,cpu --threads 4 --output p.json --update");
  }
}

TEST(Remedies, NameTheFlagsOfJobs) {
  const auto line = [](Need need) {
    return error_line(InputError("no", std::move(need)), "--model net", on_cores(8));
  };
  EXPECT_EQ(line(need::Ranks{2}),
            "no: start it with: mpirun -np 2 --bind-to none hios-run --schedule 'my plan.json'");
  EXPECT_EQ(line(need::Ranks{1}), "no: start it with: hios-run --schedule 'my plan.json'");
  EXPECT_EQ(line(need::AllFindings{}),
            "no; list them with: hios-schedule --check 'my plan.json' --model net");
  EXPECT_EQ(
      line(need::HostMemory{.several_ranks = true}),
      "no: take a smaller input (--batch, --height, --width, --dim), fewer ranks on this host, "
      "or more hosts");
  EXPECT_EQ(line(need::HostMemory{.many_inferences = true, .own_limit = true}),
            "no: take a smaller input (--batch, --height, --width, --dim), fewer --in-flight, "
            "--distinct-inputs or --copies, or raise the limit");
  EXPECT_EQ(line(need::DeviceKind{"cpu", {}}),
            "no: choose another --backend, or schedule for --kind cpu");
  EXPECT_EQ(line(need::DeviceKind{"cpu", {"cpu", "cpu:avx2"}}),
            "no: start it with --backend cpu,cpu:avx2, or schedule for --kind cpu");
  EXPECT_EQ(line(need::DeviceMemory{false}), "no: schedule for more devices, or for more memory");
  EXPECT_NE(line(need::DeviceMemory{true}).find("leave out --profile"), std::string::npos);
  EXPECT_EQ(line(need::ScheduledPrecision{}),
            "no: choose another --backend, or schedule again with another --math");
  EXPECT_EQ(line(need::ChosenPrecision{{"fp32", "tf32"}, {"reference", "cuda"}}),
            "no: choose --math fp32, tf32 or --backend reference or --backend cuda");
  EXPECT_EQ(line(need::ChosenPrecision{{"fp32"}, {}}), "no: choose --math fp32");
  EXPECT_NE(line(need::IdentifiedDevices{}).find("--platform"), std::string::npos);
  EXPECT_EQ(line(need::WithoutAlgorithms{{"lt", "cudnn 1"}}),
            "no, or leave it out with --without-algorithms 'lt;cudnn 1'");
}

// Tests of programs run the others (tests/cli/programs/files/pasted_commands_test.cpp).
TEST(Remedies, EveryCommandEndsItsLine) {
  const Invocation here = on_cores(8);
  const auto lines = {error_line(InputError("no", need::OnnxReader{}), "", here),
                      error_line(InputError("no", need::OnnxWriter{}), "", here),
                      error_line(InputError("no", need::MpiInBuild{}), "", here)};
  for (const std::string& line : lines) {
    const std::size_t command = line.find("with: cmake --preset release -DHIOS_");
    EXPECT_NE(command, std::string::npos) << line;
    EXPECT_TRUE(line.ends_with("=ON && cmake --build --preset release")) << line;
  }
  EXPECT_EQ(error_line(InputError("no", need::Hwloc{}), "", here),
            "no; build again with: apt-get install libhwloc-dev && cmake --preset release "
            "-DHIOS_HWLOC=ON && cmake --build --preset release");
}

TEST(Remedies, NoNeedLeavesTheTextAsItIs) {
  EXPECT_EQ(error_line(InputError("no")), "no");
  EXPECT_EQ(error_line(RunError("no")), "no");
}

TEST(Remedies, NameACommandForTheSurroundings) {
  const auto line = [](Need need) { return error_line(RunError("slow", std::move(need))); };
  EXPECT_NE(line(need::UnsharedCores{}).find("--threads"), std::string::npos);
  EXPECT_NE(line(need::CoreQuota{}).find("more cores"), std::string::npos);
  EXPECT_NE(line(need::PerformanceGovernor{}).find("cpupower frequency-set -g performance"),
            std::string::npos);
  EXPECT_NE(line(need::CudaAwareMpi{}).find("CUDA-aware MPI"), std::string::npos);
  EXPECT_NE(line(need::AlikeHosts{}).find("alike"), std::string::npos);
  const auto copies = [&](const char* library, int scope) {
    return line(need::SingleCopy{library, scope});
  };
  EXPECT_NE(copies("Open MPI 4.1.4", 0).find("OMPI_MCA_btl_vader_single_copy_mechanism unset"),
            std::string::npos);
  EXPECT_NE(copies("Open MPI 5.0.11", 0).find("OMPI_MCA_smsc unset"), std::string::npos);
  EXPECT_NE(copies("MPICH 5.0.2", 0).find("MPIR_CVAR_CH4_CMA_ENABLE unset"), std::string::npos);
  EXPECT_EQ(copies("Open MPI 4.1.4", 0).find("yama"), std::string::npos);
  EXPECT_NE(copies("Open MPI 4.1.4", 2).find("ptrace_scope to 0 (it is 2)"), std::string::npos);
}

TEST(Remedies, NameTheFlagsOfTheEngine) {
  const auto not_built = [](const char* name, const char* instead) {
    return error_line(InputError("not built", need::BackendInBuild{name, instead}));
  };
  EXPECT_EQ(
      not_built("cuda", "cpu"),
      "not built; use --backend cpu, or, where CUDA 13 and cuDNN 9 are installed, build with: "
      "cmake --preset cuda && cmake --build --preset cuda");
  EXPECT_EQ(
      not_built("cpu", "reference"),
      "not built; use --backend reference, or build with: apt-get install libdnnl-dev && cmake "
      "--preset release -DHIOS_CPU=ON && cmake --build --preset release");
  EXPECT_EQ(not_built("mine", "cpu"), "not built; use --backend cpu");
  EXPECT_EQ(error_line(InputError("too old", need::GpuArchitectureInBuild{"cpu"})),
            "too old; use --backend cpu, or build for it with: cmake --preset cuda "
            "-DCMAKE_CUDA_ARCHITECTURES=native && cmake --build --preset cuda");
  EXPECT_EQ(error_line(InputError("2 for 3 ranks", need::BackendPerRank{})),
            "2 for 3 ranks: give --backend one name for all, or one a rank");
  EXPECT_EQ(error_line(InputError("made for another", need::SameGpu{})),
            "made for another: run it where that GPU is, or measure with hios-profile and schedule "
            "again here");
  EXPECT_EQ(error_line(InputError("no GPU", need::Gpu{"cpu"})),
            "no GPU; use --backend cpu on machines without a GPU");
  EXPECT_EQ(error_line(InputError("too few", need::Cores{})),
            "too few: use fewer ranks or --threads, give mpirun --bind-to none, or accept shared "
            "cores with --oversubscribe");
  const auto made = [](const std::string& merge) {
    return error_line(InputError("made otherwise", need::SameMerge{merge}));
  };
  EXPECT_EQ(made("siblings"), "made otherwise: give --merge siblings, or schedule again without");
  EXPECT_EQ(made("none"), "made otherwise: leave --merge out, or schedule again with it");
  EXPECT_EQ(made("s.json"), "made otherwise: give --merge s.json, or schedule again");
  EXPECT_EQ(error_line(RunError("one of these", need::FailedOperator{})),
            "one of these: --blocking says which of these failed");
}

TEST(Remedies, AreAddedOnce) {
  const std::string text = test::message_of([] {
    with_remedies("", [] {
      with_remedies("", []() -> int { throw InputError("a.json: exists", need::Replacement{}); });
      return 0;
    });
  });
  EXPECT_EQ(text, "a.json: exists or replace it with --force");
}

template <std::size_t kIndex>
void expect_words() {
  using Kind = std::variant_alternative_t<kIndex, AnyNeed>;
  Kind kind;
  if constexpr (std::is_same_v<Kind, need::Measurement>) kind.devices = {{"cpu", 1, "fp32"}};
  const std::string line = error_line(InputError("no", Need(kind)));
  EXPECT_EQ(line.find("no"), 0u);
  EXPECT_GT(line.size(), 10u) << "the need of index " << kIndex << " has no words";
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

TEST(Remedies, EveryNeedHasWords) {
  [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    (expect_words<kIndex + 1>(), ...);  // 0: no need
  }
  (std::make_index_sequence<std::variant_size_v<AnyNeed> - 1>());
}

// A need that no library has is words that nobody reads.
/// Returns whether the text holds the name, and not only as the begin of a longer one.
bool names(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const std::size_t next = at + name.size();
    if (next == text.size() || (!std::isalnum(text[next]) && text[next] != '_')) return true;
  }
  return false;
}

TEST(Remedies, EveryNeedIsOneOfALibrary) {
  namespace fs = std::filesystem;
  const fs::path root = HIOS_SOURCE_DIR;
  const auto text_of = [](const fs::path& file) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  };
  std::string libraries;
  for (const char* floor : {"hios", "scheduler", "mpi", "engine"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / floor))
      if (entry.path().extension() == ".cpp") libraries += text_of(entry.path());
  }
  const std::string declared = text_of(root / "hios/base/need.h");
  const std::regex name("\nstruct (\\w+) \\{\n");
  std::size_t seen = 0;
  for (std::sregex_iterator it(declared.begin(), declared.end(), name), end; it != end; ++it) {
    ++seen;
    EXPECT_TRUE(names(libraries, "need::" + it->str(1))) << "no library needs " << it->str(1);
  }
  EXPECT_EQ(seen, std::variant_size_v<AnyNeed> - 1);
}

}  // namespace
}  // namespace hios::cli
