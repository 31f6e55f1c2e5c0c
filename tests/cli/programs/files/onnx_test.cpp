// ONNX files from beginning to end, as their users have them: measured, planned, run on one rank
// and on two, with an input of the user's, the outputs written; and what is refused.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hios/base/files/npy.h"
#include "hios/base/numbers/random.h"
#include "support/layers/onnx_builder.h"
#include "support/programs/programs.h"

namespace hios::test {
namespace {

std::vector<float> some(Random& random, std::size_t count, double scale) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-scale, scale));
  return values;
}

/// Two branches with a sum, a gate, a shuffle of channels and a classifier; two outputs, of which
/// the first is read on.
class OnnxPrograms : public testing::Test {
 protected:
  OnnxPrograms() {
    Random random(3);
    b_.input("x", {1, 8, 16, 16});
    b_.floats("wa", {8, 8, 3, 3}, some(random, 576, 0.2));
    b_.floats("wb", {8, 8, 1, 1}, some(random, 64, 0.4));
    b_.floats("wc", {8, 8, 1, 1}, some(random, 64, 0.4));
    padded(b_.node("Conv", {"x", "wa"}, "a"));
    b_.node("Conv", {"x", "wb"}, "b");
    b_.node("HardSwish", {"b"}, "bs");
    b_.node("Add", {"a", "bs"}, "sum");
    b_.node("Relu", {"sum"}, "features");
    b_.node("GlobalAveragePool", {"features"}, "mean");
    b_.node("Conv", {"mean", "wc"}, "excited");
    b_.node("Sigmoid", {"excited"}, "gate");
    b_.node("Mul", {"features", "gate"}, "gated");
    b_.integers("apart", {1, 2, 4, 16, 16});
    b_.integers("together", {1, 8, 16, 16});
    b_.node("Reshape", {"gated", "apart"}, "five");
    OnnxBuilder::attribute(b_.node("Transpose", {"five"}, "turned"), "perm",
                           std::vector<std::int64_t>{0, 2, 1, 3, 4});
    b_.node("Reshape", {"turned", "together"}, "shuffled");
    b_.node("GlobalAveragePool", {"shuffled"}, "pooled");
    b_.node("Flatten", {"pooled"}, "row");
    b_.floats("m", {8, 5}, some(random, 40, 0.5));
    b_.node("Gemm", {"row", "m"}, "scores");
    b_.output("features");
    b_.output("scores");
    model_ = b_.write();
    const std::vector<float> x = some(random, 8 * 16 * 16, 1);
    input_ = folder_.file("x.npy");
    write_npy(input_, std::vector<std::int64_t>{1, 8, 16, 16}, x, Existing::kReplace);
  }

  static void padded(proto::NodeProto& node) {
    OnnxBuilder::attribute(node, "pads", std::vector<std::int64_t>{1, 1, 1, 1});
  }

  Words model() const { return {"--model", model_}; }
  Words quick() const { return {"--iterations", "2", "--warmup", "1"}; }
  NpyArray output(const std::string& folder, const std::string& name) const {
    return read_npy(folder_.file(folder + "/" + name), {});
  }

  OnnxBuilder b_;
  TestFolder folder_;
  std::string model_, input_;
};

#ifdef HIOS_MPIEXEC
TEST_F(OnnxPrograms, TwoRanksGiveOneRanksBits) {
  const std::string profile = folder_.file("p.json"), schedule = folder_.file("s.json");
  const auto measured = hios_profile(2, model() + Words{"--iterations", "3", "--output", profile});
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  const auto planned =
      hios_schedule(model() + Words{"--profile", profile, "--devices", "2", "--algorithm",
                                    "inter-mr", "--output", schedule});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const auto two = hios_run(
      2, model() + quick() +
             Words{"--schedule", schedule, "--input", input_, "--outputs", folder_.file("two"),
                   "--verify=operators", "--json", folder_.file("r.json")});
  ASSERT_EQ(two.exit_status, 0) << two.err;
  EXPECT_TRUE(read(folder_.file("r.json"))["verified"]["bitwise"].get<bool>());
  const auto one =
      hios_run(1, model() + quick() + Words{"--input", input_, "--outputs", folder_.file("one")});
  ASSERT_EQ(one.exit_status, 0) << one.err;
  for (const char* name : {"0.npy", "1.npy"}) {
    EXPECT_EQ(output("two", name).values, output("one", name).values) << name;
  }
  // Operators are called as their nodes are.
  const Json plan = read(schedule);
  EXPECT_NE(plan.dump().find("\"Gemm_of_scores\""), std::string::npos) << plan.dump();
}
#endif

TEST_F(OnnxPrograms, ListOperatorsByTheirNodes) {
  const auto done =
      hios_schedule(model() + Words{"--list-operators", "--json", folder_.file("list.json"),
                                    "--csv", folder_.file("list.csv")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(lines_with(done.out, "Gemm_of_scores").size(), 1u) << done.out;
  const Json list = read(folder_.file("list.json"));
  bool gate = false;
  for (const Json& op : list["operators"]) {
    EXPECT_FALSE(op["signature"].get<std::string>().empty());
    const Json& nodes = op["layers"];
    if (std::ranges::find(nodes, "Sigmoid_of_gate") == nodes.end()) continue;
    EXPECT_EQ(op["name"], "Conv_of_excited") << "which it is part of";
    gate = true;
  }
  EXPECT_TRUE(gate) << list.dump();
  EXPECT_EQ(list["input"],
            Json({{"name", "x"}, {"dims", {1, 8, 16, 16}}, {"shape", {1, 8, 16, 16}}}));
  EXPECT_EQ(list["outputs"], Json({{{"name", "features"}, {"dims", {1, 8, 16, 16}}},
                                   {{"name", "scores"}, {"dims", {1, 5}}}}));
  const auto without = hios_schedule({"--list-operators"});
  EXPECT_EQ(without.exit_status, 2) << without.err;
}

TEST_F(OnnxPrograms, RunInOrderByAProfilesCosts) {
  const std::string profile = folder_.file("profile.json");
  ASSERT_EQ(hios_profile(1, model() + quick() + Words{"--stages", "none", "--output", profile})
                .exit_status,
            0);
  const auto done = hios_run(
      1, model() + quick() + Words{"--profile", profile, "--json", folder_.file("r.json")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_GT(read(folder_.file("r.json"))["predicted_ms"], 0.0) << done.out;
}

TEST_F(OnnxPrograms, SchedulesOfInputsThatAreNoImagesRun) {
  OnnxBuilder b;
  b.input("x", {1, 8});
  b.floats("w", {8, 4}, std::vector<float>(32, 0.5F));
  b.node("MatMul", {"x", "w"}, "y");
  b.output("y");
  const Words vector{"--model", b.write()};
  const std::string profile = folder_.file("vp.json"), schedule = folder_.file("vs.json");
  const auto measured =
      hios_profile(1, vector + quick() + Words{"--stages", "none", "--output", profile});
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  const auto planned =
      hios_schedule(vector + Words{"--profile", profile, "--devices", "1", "--algorithm",
                                   "sequential", "--output", schedule});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const auto done = hios_run(1, vector + quick() + Words{"--schedule", schedule, "--verify"});
  EXPECT_EQ(done.exit_status, 0) << done.err;
}

TEST_F(OnnxPrograms, WriteOutputsAsTheFileHasThem) {
  const auto done = hios_run(
      1, model() + quick() +
             Words{"--backend", "reference", "--input", input_, "--outputs", folder_.file("out")});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(output("out", "0.npy").dims, (std::vector<std::int64_t>{1, 8, 16, 16}));
  EXPECT_EQ(output("out", "1.npy").dims, (std::vector<std::int64_t>{1, 5}));
  const Json list = read(folder_.file("out/outputs.json"));
  EXPECT_EQ(list["outputs"][0]["name"], "features");
  EXPECT_EQ(list["outputs"][1]["file"], "1.npy");
  // Again: what is there is not replaced unless it is said.
  const Words again = model() + quick() + Words{"--outputs", folder_.file("out")};
  EXPECT_EQ(hios_run(1, again).exit_status, 2);
  EXPECT_EQ(hios_run(1, again + Words{"--force"}).exit_status, 0);
}

TEST_F(OnnxPrograms, ExportedNetworkGivesTheSameBits) {
  const Words network{"--model", "squeezenet", "--height", "48"};
  const std::string file = folder_.file("squeezenet.onnx");
  const Words seed{"--seed", "5"};
  const auto written = hios_run(1, network + seed + Words{"--export-onnx", file});
  ASSERT_EQ(written.exit_status, 0) << written.err;
  for (const auto& [model, folder] : {std::pair(network, "own"), {{"--model", file}, "read"}}) {
    const auto done =
        hios_run(1, model + quick() + seed + Words{"--outputs", folder_.file(folder)});
    ASSERT_EQ(done.exit_status, 0) << done.err;
  }
  EXPECT_EQ(output("read", "0.npy").values, output("own", "0.npy").values);
  EXPECT_EQ(read(folder_.file("read/outputs.json"))["outputs"],
            read(folder_.file("own/outputs.json"))["outputs"]);

  const auto refused = [&](const Words& flags, const std::string& message) {
    const auto done = hios_run(1, flags);
    EXPECT_EQ(done.exit_status, 2) << done.err;
    EXPECT_EQ(lines_with(done.err, message).size(), 1u) << message << " in " << done.err;
  };
  const Words again = network + Words{"--export-onnx", file};
  refused(again, "squeezenet.onnx: exists");
  EXPECT_EQ(hios_run(1, again + Words{"--force"}).exit_status, 0);
  refused(Words{"--model", file, "--force", "--export-onnx", file}, "name the same file");
  refused(again + Words{"--force", "--verify"}, "leave out --verify");
  refused(again + Words{"--force", "--layers"}, "leave out --layers");
  refused(again + Words{"--force", "--iterations", "3"}, "leave out --iterations");
  refused(again + Words{"--force", "--list-devices"}, "leave out --list-devices");
  refused(model() + Words{"--export-onnx", folder_.file("moved.onnx")},
          "Move (layer 'Reshape_of_shuffled.move')");
}

TEST_F(OnnxPrograms, SayTheInputsShape) {
  OnnxBuilder net;
  small_net(net);  // 1x3x8x8
  const auto done = hios_run(1, Words{"--model", net.write(), "--height", "4"} + quick());
  ASSERT_EQ(done.exit_status, 0) << done.err;
  EXPECT_EQ(lines_with(done.out, "net 1x3x4x8").size(), 1u) << done.out;
}

TEST_F(OnnxPrograms, CompareOutputsWithReferences) {
  const Words network = model() + quick();
  const Words input{"--input", "x:" + input_};
  ASSERT_EQ(hios_run(1, network + input + Words{"--outputs", folder_.file("out")}).exit_status, 0);
  // Raw values, too, and outputs by name.
  const std::vector<float> raw = output("out", "0.npy").values;
  folder_.write("features.bin",
                {reinterpret_cast<const char*>(raw.data()), raw.size() * sizeof(float)});
  const Words references{"--reference", "features:" + folder_.file("features.bin"), "--reference",
                         "scores:" + folder_.file("out/1.npy")};
  const std::string report = folder_.file("r.json");
  const auto same = hios_run(1, network + input + references + Words{"--json", report});
  EXPECT_EQ(same.exit_status, 0) << same.err;
  EXPECT_EQ(lines_with(same.out, "bit for bit the same").size(), 2u) << same.out;
  const Json compared = read(report)["references"];
  ASSERT_EQ(compared.size(), 2u);
  EXPECT_EQ(compared[0]["output"], "features");
  EXPECT_EQ(compared[1]["max_abs"], 0.0);
  EXPECT_TRUE(compared[1]["passed"].get<bool>());
  // Another input gives other outputs.
  const auto other = hios_run(1, network + references + Words{"--json", report, "--force"});
  EXPECT_EQ(other.exit_status, 1) << other.err;
  EXPECT_EQ(lines_with(other.err, "BEYOND THE TOLERANCE (0.001 + 0.001 of the value)").size(), 2u)
      << other.err;
  EXPECT_FALSE(read(report)["references"][0]["passed"].get<bool>());
  EXPECT_GT(read(report)["references"][0]["max_abs"], 1e-3);
  EXPECT_EQ(hios_run(1, network + references + Words{"--atol", "1000"}).exit_status, 0);
}

TEST_F(OnnxPrograms, RefuseArraysForNothing) {
  const auto refused = [&](const Words& flags, const std::string& message) {
    const auto done = hios_run(1, model() + flags);
    EXPECT_EQ(done.exit_status, 2) << done.err;
    EXPECT_EQ(lines_with(done.err, message).size(), 1u) << message << " in " << done.err;
  };
  refused({"--input", "y:" + input_}, ": the model has one input, 'x', not 'y'");
  refused({"--input", input_, "--input", input_},
          "--input is given 2 times, and the model has one");
  refused({"--reference", input_},
          ": the model has the outputs 'features' and 'scores': say which");
  refused({"--reference", "x:" + input_},
          ": the model has no output 'x', only 'features' and 'scores'");
  refused({"--reference", "features:" + input_, "--reference", "features:" + input_},
          "output 'features' has a reference already");
  refused({"--reference", "scores:" + input_},
          "holds 1x8x16x16 where output 'scores' has 1x5 (float32, 20 bytes); --outputs FOLDER");
  refused({"--dry-run", "--reference", "features:" + input_}, "--dry-run measures nothing");
  folder_.write("x.bin", "12345678");
  refused({"--input", folder_.file("x.bin")},
          "holds 8 bytes where the model takes 1x8x16x16 (float32, 8192 bytes); hios run --input "
          "converts pictures, and this makes an input of zeros: head -c 8192 /dev/zero");
  folder_.write("photo", "GIF89a, or so");
  refused({"--input", folder_.file("photo")},
          "is a picture, no .npy file; this converts it: hios run --model " + model_);
}

TEST_F(OnnxPrograms, RefuseBadFilesInOneLine) {
  const auto refused = [&](const Words& flags, const std::string& message) {
    const auto done = hios_run(1, model() + flags);
    EXPECT_EQ(done.exit_status, 2) << done.err;
    EXPECT_EQ(lines_with(done.err, message).size(), 1u) << message << " in " << done.err;
  };
  write_npy(folder_.file("small.npy"), std::vector<std::int64_t>{1, 8, 4, 4},
            std::vector<float>(128), Existing::kReplace);
  folder_.write("noise.npy", "noise");
  refused({"--input", folder_.file("small.npy")}, "holds 1x8x4x4 where the model takes 1x8x16x16");
  refused({"--input", folder_.file("noise.npy")}, "noise.npy: is no .npy file");
  refused({"--input", folder_.file("nowhere.npy")}, "nowhere.npy");
  refused({"--dim", "x"}, "--dim takes NAME=N");
  refused({"--dim", "x=0"}, "--dim takes NAME=N");
  refused({"--profile", folder_.file("p.json")}, "p.json");
  refused({"--max-input", "1000"}, "raise --max-input");
  refused({"--outputs", input_}, "is no folder");
  refused({"--dry-run", "--outputs", folder_.file("none")}, "--dry-run measures nothing");
}

TEST_F(OnnxPrograms, ReplaceNoWeightsOfTheirOwnModel) {
  auto& tensor = *b_.graph().mutable_initializer(0);
  const std::vector<float> values(tensor.float_data().begin(), tensor.float_data().end());
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * 4);
  const std::string weights = b_.folder.put("weights.bin", bytes).string();
  tensor.clear_float_data();
  tensor.set_data_location(proto::TensorProto::EXTERNAL);
  auto& location = *tensor.add_external_data();
  location.set_key("location");
  location.set_value("weights.bin");
  b_.write();
  const Words flags = model() + Words{"--force"};
  for (const auto& done : {hios_run(1, flags + quick() + Words{"--json", weights}),
                           hios_profile(1, flags + quick() + Words{"--output", weights}),
                           hios_schedule(flags + Words{"--list-operators", "--csv", weights}),
                           hios_run(1, flags + Words{"--export-onnx", weights})}) {
    EXPECT_EQ(done.exit_status, 2) << done.out;
    EXPECT_EQ(lines_with(done.err, weights + " would replace a file that --model").size(), 1u)
        << done.err;
    EXPECT_EQ(content_of(weights), bytes);
  }
  EXPECT_EQ(hios_schedule(flags + Words{"--list-operators", "--csv", folder_.file("list.csv")})
                .exit_status,
            0);
}

#if !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)  // these need memory of their own
/// Returns the peak memory of a program that runs to its end.
std::size_t peak_bytes(const Words& command) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stdout) == nullptr) _exit(126);
    execv(arguments.front(), arguments.data());
    _exit(127);
  }
  int status = 0;
  struct rusage usage {};
  EXPECT_EQ(wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

/// The peak memory of a program that reads a chain of products, the size of the file and that of
/// its largest weight, in bytes.
struct ReadChain {
  double peak = 0, file = 0, largest = 0;
};

ReadChain read_chain(const std::vector<std::int64_t>& widths) {
  ReadChain read;
  OnnxBuilder b;
  b.input("x", {1, widths.front()});
  std::string before = "x";
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const std::int64_t bytes = 4 * widths[i - 1] * widths[i];
    auto& matrix = *b.graph().add_initializer();
    matrix.set_name("m" + std::to_string(i));
    matrix.set_data_type(proto::TensorProto::FLOAT);
    matrix.add_dims(widths[i - 1]);
    matrix.add_dims(widths[i]);
    matrix.set_raw_data(std::string(static_cast<std::size_t>(bytes), '\0'));
    const std::string after = "y" + std::to_string(i);
    b.node("MatMul", {before, matrix.name()}, after);
    before = after;
    read.largest = std::max(read.largest, static_cast<double>(bytes));
  }
  b.output(before);
  const std::string file = b.write();
  b.graph().Clear();  // the program's peak begins with the memory of the process that starts it
  read.file = static_cast<double>(std::filesystem::file_size(file));
  read.peak = static_cast<double>(
      peak_bytes({HIOS_BIN_DIR "/hios-schedule", "--model", file, "--list-operators"}));
  return read;
}

// Large weights are read into their place. Each is held twice while its values take the order of
// its operator, which counts where one is most of the file.
TEST(OnnxMemory, IsThatOfTheFileAndOfItsLargestWeight) {
  constexpr std::int64_t kWidth = 2048;
  const ReadChain program = read_chain({16, 16});
  for (const std::vector<std::int64_t>& widths :
       {std::vector<std::int64_t>{kWidth, kWidth, kWidth, kWidth, kWidth, kWidth},
        {kWidth, 5 * kWidth, 16}}) {
    const ReadChain read = read_chain(widths);
    std::printf("  %.1f MB to read %.1f MB\n", read.peak / 1e6, read.file / 1e6);
    EXPECT_LT(read.peak, program.peak + read.file + read.largest + 16e6);
  }
}
#endif

}  // namespace
}  // namespace hios::test
