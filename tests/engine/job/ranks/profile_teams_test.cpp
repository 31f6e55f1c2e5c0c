#include "engine/job/ranks/profile_teams.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/expect_error.h"
#include "support/fakes/fake_backend.h"
#include "support/transports/thread_transport.h"

namespace hios::job {
namespace {

using test::FakeBackend;

TEST(Teams, AreOneForOneKind) {
  test::run_ranks(3, [](mpi::Transport& transport) {
    FakeBackend backend(2);
    const Teams teams = gather_teams(transport, backend, Precision::kFp32);
    ASSERT_EQ(teams.ranks.size(), 1u);
    EXPECT_EQ(teams.ranks[0], (Team{Rank(0), Rank(1), Rank(2)}));
    EXPECT_TRUE(teams.like[0].devices.empty());
    const Platform platform = platform_of(teams, 2);
    EXPECT_EQ(platform.device(DeviceId(2)).name, "cpu2");
    EXPECT_EQ(platform.device(DeviceId(2)).threads, 2);
  });
}

/// A fake backend with the identity of a GPU.
class Named final : public FakeBackend {
 public:
  Named(std::string name, std::string kind, std::string gpu)
      : name_(std::move(name)), kind_(std::move(kind)), gpu_(std::move(gpu)) {}
  std::string_view name() const override { return name_; }
  std::string_view kind() const override { return kind_; }
  Json describe() const override { return gpu_.empty() ? Json::object() : Json{{"gpu", gpu_}}; }

 private:
  std::string name_, kind_, gpu_;
};

TEST(Teams, AreDividedByGpu) {
  test::run_ranks(3, [](mpi::Transport& transport) {
    Named backend("cuda", "gpu", transport.rank() == Rank(1) ? "NVIDIA A100" : "NVIDIA H200");
    const Teams teams = gather_teams(transport, backend, Precision::kFp32);
    ASSERT_EQ(teams.ranks.size(), 2u);
    EXPECT_EQ(teams.ranks[0], (Team{Rank(0), Rank(2)}));
    EXPECT_EQ(teams.like[1].devices,
              (std::vector<std::string>{"NVIDIA H200", "NVIDIA A100", "NVIDIA H200"}));
    const Platform platform = platform_of(teams, 1);
    EXPECT_EQ(platform.device(DeviceId(1)).identity.text(), "NVIDIA A100");
    Profile profile{teams.like};
    EXPECT_EQ(profile.find(platform, DeviceId(1)), &profile.configurations[1]);
    EXPECT_EQ(profile.find(platform, DeviceId(2)), &profile.configurations[0]);
    EXPECT_EQ(profile.find(Platform::homogeneous(3, "gpu", 1, 1), DeviceId(0)), nullptr);
  });
}

TEST(Teams, RefuseTwoBackendsForOneKind) {
  test::run_ranks(2, [](mpi::Transport& transport) {
    Named backend(transport.rank() == Rank(0) ? "reference" : "cpu", "cpu", "");
    const Precision rougher = transport.rank() == Rank(0) ? Precision::kTf32 : Precision::kFp32;
    for (const Precision precision : {Precision::kFp32, rougher}) {
      test::expect_error<InputError>([&] { gather_teams(transport, backend, precision); },
                                     {"reference and cpu", "kind cpu", "one at a time"});
    }
  });
}

TEST(Teams, DoNotMixTimesOfTwoMachines) {
  test::run_ranks(2, [](mpi::Transport& transport) {
    FakeBackend backend(1);
    const Teams teams = gather_teams(transport, backend, Precision::kFp32);
    Profile profile{teams.like};
    profile.file = "p.json";
    profile.configurations[0].machine["processor"] = "another";
    test::expect_error<InputError>(
        [&] { configurations_of(teams, profile, "this one", "threads"); },
        {"p.json", "another processor", "here this one"});
    profile.configurations[0].backend = "reference";
    test::expect_error<InputError>(
        [&] { configurations_of(teams, profile, "this one", "threads"); }, {"reference backend"});
  });
}

}  // namespace
}  // namespace hios::job
