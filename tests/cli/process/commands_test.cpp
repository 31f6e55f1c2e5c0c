// Commands in messages, for every way in which a program may have been started.
#include "cli/process/commands.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hios/base/json/json_io.h"
#include "support/programs/process.h"
#include "support/programs/temporary_folder.h"
#include "support/programs/variable.h"

namespace hios::cli {
namespace {

Invocation started_on(std::size_t cores) {
  return {.words = {"hios-run", "--model", "net"}, .mpi = mpi::Library::kOpenMpi, .cores = cores};
}

std::string measures(const Invocation& here, std::size_t ranks) {
  return start_command(here, ranks, "hios-profile", "--model net");
}

TEST(ShellWord, IsReadBackByAShell) {
  for (const char* word : {"plain", "a-b_c./,:=+%@^9", "", "two words", "it's", "$HOME", "a\\b",
                           "*", "~", "#", "a;b", "\"", "'", "tab\there", "né"}) {
    const auto said = test::run_process({"bash", "-c", "printf %s " + shell_word(word)});
    EXPECT_EQ(said.out, word) << shell_word(word);
  }
  EXPECT_EQ(shell_words({"--model", "my net.onnx"}), "--model 'my net.onnx'");
  EXPECT_EQ(shell_word("inception_v3"), "inception_v3") << "no quotes where none are needed";
}

TEST(Commands, NeedNoLauncherForOneRank) {
  EXPECT_EQ(measures(started_on(8), 1), "hios-profile --model net");
  EXPECT_EQ(start_command(started_on(8), 4, "hios-schedule", "--model net"),
            "hios-schedule --model net")
      << "it plans on one process for any number of ranks";
}

TEST(Commands, UnbindRanksAndShareSlotsWhereCoresMayBeThreads) {
  EXPECT_EQ(measures(started_on(8), 4), "mpirun -np 4 --bind-to none hios-profile --model net");
  EXPECT_EQ(measures(started_on(7), 4),
            "mpirun -np 4 --bind-to none --oversubscribe hios-profile --model net");
  Invocation mpich = started_on(1);
  mpich.mpi = mpi::Library::kOther;
  EXPECT_EQ(measures(mpich, 4), "mpirun -np 4 -bind-to none hios-profile --model net");
}

TEST(Commands, LetRootRun) {
  Invocation root = started_on(8);
  root.refuses_root = true;
  EXPECT_EQ(measures(root, 2),
            "mpirun -np 2 --bind-to none --allow-run-as-root hios-profile --model net");
  EXPECT_EQ(measures(root, 1), "hios-profile --model net");
}

TEST(Commands, StartThisProgramAgain) {
  Invocation here = started_on(8);
  here.words = {"hios-run", "--model", "my net.onnx"};
  EXPECT_EQ(start_again_command(here, 2),
            "mpirun -np 2 --bind-to none hios-run --model 'my net.onnx'");
}

TEST(Commands, NameTheFolderOfPrograms) {
  const test::TemporaryFolder folder;
  const std::string program = folder.put("hios-profile", "#!/bin/sh\n").string();
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  Invocation here = started_on(8);
  here.folder = folder.path().string() + "/";
  EXPECT_EQ(measures(here, 1), program + " --model net");
  EXPECT_EQ(start_command(here, 1, "hios-schedule", "-h"), "hios-schedule -h")
      << "the folder of another program, which has none of that name";
}

TEST(Commands, UseTheBatchSystem) {
  Invocation here = started_on(2);
  here.slurm = SlurmJob{.tasks = 2};
  EXPECT_EQ(measures(here, 2),
            "srun --mpi=pmix --cpu-bind=none --ntasks=2 hios-profile --model net");
  EXPECT_EQ(measures(here, 3),
            "salloc --ntasks=3 srun --mpi=pmix --cpu-bind=none --ntasks=3 hios-profile --model "
            "net");
  here.slurm->script_arguments = "--model net --verify";
  EXPECT_EQ(measures(here, 2), "sbatch -W --nodes=2 profile.sbatch --model net");
  EXPECT_EQ(start_again_command(here, 2), "sbatch --nodes=2 run.sbatch --model net --verify");
  here.slurm->tasks_per_node = 4;
  EXPECT_EQ(start_again_command(here, 8),
            "sbatch --nodes=2 --ntasks-per-node=4 run.sbatch --model net --verify");
  EXPECT_EQ(start_again_command(here, 6),
            "sbatch --nodes=6 --ntasks-per-node=1 run.sbatch --model net --verify");
  here.slurm->scripts = "/shared/our jobs/";
  EXPECT_EQ(start_again_command(here, 8),
            "sbatch --nodes=2 --ntasks-per-node=4 '/shared/our jobs/run.sbatch' --model net "
            "--verify");
}

TEST(Commands, BuildByPresetsThatThereAre) {
  const Json presets = read_json(HIOS_SOURCE_DIR "/CMakePresets.json");
  for (const std::string preset : {"release", "cuda"}) {
    EXPECT_EQ(build_command(preset, "-DX=ON"),
              "cmake --preset " + preset + " -DX=ON && cmake --build --preset " + preset);
    for (const char* kind : {"configurePresets", "buildPresets"}) {
      bool found = false;
      for (const Json& each : presets[kind]) found = found || each["name"] == preset;
      EXPECT_TRUE(found) << kind << " has no " << preset;
    }
  }
}

TEST(Invocation, ReadsTheEnvironment) {
  const test::Variable no_job("SLURM_JOB_ID", std::nullopt);
  EXPECT_FALSE(invocation().slurm);
  const test::Variable job("SLURM_JOB_ID", "42"), tasks("SLURM_NTASKS", "8"),
      per_node("SLURM_NTASKS_PER_NODE", "4"), script("HIOS_BATCH_ARGUMENTS", "--model net");
  const auto slurm = invocation().slurm;
  ASSERT_TRUE(slurm);
  EXPECT_EQ(slurm->tasks, 8u);
  EXPECT_EQ(slurm->tasks_per_node, 4u);
  EXPECT_EQ(slurm->script_arguments, "--model net");
  EXPECT_EQ(slurm->scripts, "");
  const test::Variable scripts("HIOS_SCRIPTS", "/jobs"), here("SLURM_SUBMIT_DIR", "/jobs");
  EXPECT_EQ(invocation().slurm->scripts, "") << "they are called from their folder";
  const test::Variable elsewhere("SLURM_SUBMIT_DIR", "/home/me");
  EXPECT_EQ(invocation().slurm->scripts, "/jobs/");
}

TEST(Invocation, NamesAProgramInPathByItsNameAlone) {
  const test::TemporaryFolder folder;
  const std::string program = folder.put("hios-run", "#!/bin/sh\n").string();
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const char* const words[] = {program.c_str(), "--schedule", "s.json", "--profile=p.json"};
  note_invocation(4, words);
  EXPECT_EQ(invocation().folder, folder.path().string() + "/");
  EXPECT_EQ(invocation().value_of("schedule"), "s.json");
  EXPECT_EQ(invocation().value_of("profile"), "p.json");
  EXPECT_FALSE(invocation().value_of("model"));
  {
    const test::Variable path("PATH", "/nowhere:" + folder.path().string());
    EXPECT_EQ(invocation().folder, "");
  }
  note_invocation(0, nullptr);
  EXPECT_EQ(invocation().folder, "");
}

}  // namespace
}  // namespace hios::cli
