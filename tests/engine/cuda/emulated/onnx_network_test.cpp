// An ONNX file with layers that no built-in network has, on emulated GPUs, as its users have it: on
// one rank like plain loops, in fp32 and fp16; measured, planned and run on two ranks with the bits
// of one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/layers/onnx_builder.h"
#include "support/programs/programs.h"

namespace hios::test {
namespace {

using testing::HasSubstr;
using Integers = std::vector<std::int64_t>;

/// Two branches that are joined on several axes, a gate and attention; three outputs.
class EmulatedOnnxNetwork : public testing::Test {
 protected:
  EmulatedOnnxNetwork() {
    b_.model.mutable_opset_import(0)->set_version(17);
    b_.input("x", {1, 8, 12, 12});
    add_features();
    add_gate();
    add_attention();
    add_tall_branch();
    model_ = {"--model", b_.write()};
  }

  void add_features() {
    floats("wa", {8, 8, 3, 3}, 0.2f);
    ints(b_.node("Conv", {"x", "wa"}, "a"), "pads", {1, 1, 1, 1});
    auto& pool = b_.node("AveragePool", {"x"}, "p");
    ints(pool, "kernel_shape", {3, 3});
    ints(pool, "pads", {1, 1, 1, 1});
    OnnxBuilder::attribute(pool, "count_include_pad", 1);
    b_.node("Add", {"a", "p"}, "sum");
    b_.node("HardSwish", {"sum"}, "h");
  }

  void add_gate() {
    floats("wt", {8, 6, 2, 2}, 0.4f);
    ints(b_.node("ConvTranspose", {"h", "wt"}, "wide"), "strides", {2, 2});
    b_.floats("twice", {4}, {1, 1, 2, 2});
    b_.node("Resize", {"h", "", "twice"}, "large");
    OnnxBuilder::attribute(b_.node("Concat", {"wide", "large"}, "both"), "axis", 1);
    floats("scale", {14}, 1);
    floats("shift", {14}, 1);
    b_.node("InstanceNormalization", {"both", "scale", "shift"}, "even");
    OnnxBuilder::attribute(b_.node("LRN", {"even"}, "local"), "size", 5);
    b_.integers("around", {0, 0, 1, 1, 0, 0, 1, 1});
    auto& mode = *b_.node("Pad", {"local", "around"}, "framed").add_attribute();
    mode.set_name("mode");
    mode.set_type(proto::AttributeProto::STRING);
    mode.set_s("reflect");
    ints(b_.node("ReduceMean", {"framed"}, "mean"), "axes", {2, 3});
    b_.node("Sigmoid", {"mean"}, "gate");
    b_.node("Mul", {"framed", "gate"}, "gated");
    b_.output("gated");
  }

  void add_attention() {
    b_.integers("rows", {1, 8, 144});
    b_.node("Reshape", {"h", "rows"}, "q");
    ints(b_.node("Transpose", {"q"}, "turned"), "perm", {0, 2, 1});
    b_.node("MatMul", {"q", "turned"}, "scores");
    b_.node("Softmax", {"scores"}, "shares");
    b_.node("MatMul", {"shares", "q"}, "attended");
    floats("token_scale", {144}, 1);
    floats("token_shift", {144}, 1);
    b_.node("LayerNormalization", {"attended", "token_scale", "token_shift"}, "tokens");
    b_.output("tokens");
  }

  void add_tall_branch() {
    OnnxBuilder::attribute(b_.node("Concat", {"h", "p"}, "tall"), "axis", 2);
    floats("slope", {8, 1, 1}, 0.5f);
    b_.node("PRelu", {"tall", "slope"}, "leaky");
    floats("wb", {5, 8, 1, 1}, 0.4f);
    b_.node("Conv", {"leaky", "wb"}, "five");
    b_.node("Tanh", {"five"}, "bounded");
    b_.output("bounded");
  }

  void floats(const std::string& name, const Integers& dims, float scale) {
    std::size_t count = 1;
    for (const std::int64_t extent : dims) count *= static_cast<std::size_t>(extent);
    std::vector<float> values;
    while (values.size() < count) {
      values.push_back(scale * std::sin(1.7f * static_cast<float>(values.size() + count)));
    }
    b_.floats(name, dims, values);
  }
  static void ints(proto::NodeProto& node, const std::string& name, const Integers& values) {
    OnnxBuilder::attribute(node, name, values);
  }

  static ProcessOptions device(const std::string& settings) {
    return {.limit_s = 300, .environment = {{"HIOS_EMULATED_CUDA", settings}}};
  }
  const Words on_gpu_{"--backend",        "cuda", "--warmup",     "1",
                      "--warmup-seconds", "0",    "--iterations", "2"};

  OnnxBuilder b_;
  TestFolder folder_;
  Words model_;
};

TEST_F(EmulatedOnnxNetwork, RunsOnOneRankLikeTheReference) {
  for (const char* const math : {"fp32", "fp16"}) {
    const ProcessResult done = run_process(
        Words{HIOS_EMULATED_RUN} + model_ + on_gpu_ + Words{"--math", math, "--verify=operators"},
        device("order=random,seed=5"));
    EXPECT_EQ(done.exit_status, 0) << math << ": " << done.err;
    EXPECT_THAT(done.out, HasSubstr("bit for bit the result of one rank"));
  }
}

#ifdef HIOS_MPIEXEC
TEST_F(EmulatedOnnxNetwork, GivesTheBitsOfOneRankOnTwo) {
  const Words profile{"--profile", folder_.file("p.json")};
  const ProcessResult measured = run_mpi(
      2,
      Words{HIOS_EMULATED_PROFILE} + model_ + on_gpu_ + Words{"--output", folder_.file("p.json")},
      device("order=random"));
  ASSERT_EQ(measured.exit_status, 0) << measured.err;
  // Tensors travel for nothing, so that both ranks get work.
  const std::string platform = folder_.file("platform.json");
  std::ofstream(platform)
      << R"({"format": "hios-platform", "version": 1, "default_link": {"latency_ms": 0, )"
      << R"("gb_per_s": 1e6}, "devices": [{"name": "a", "kind": "gpu"}, )"
      << R"({"name": "b", "kind": "gpu"}]})";
  const ProcessResult planned = hios_schedule(
      model_ + profile +
      Words{"--platform", platform, "--algorithm", "hios-lp", "--output", folder_.file("s.json")});
  ASSERT_EQ(planned.exit_status, 0) << planned.err;
  const Json written = read(folder_.file("s.json"));
  for (const Json& rank : written["devices"]) {
    EXPECT_FALSE(rank["stages"].empty()) << "all operators on one rank";
  }
  const ProcessResult done = run_mpi(2,
                                     Words{HIOS_EMULATED_RUN} + model_ + on_gpu_ + profile +
                                         Words{"--schedule", folder_.file("s.json"), "--verify"},
                                     device("order=late"));
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("bit for bit the result of one rank"));
}
#endif

}  // namespace
}  // namespace hios::test
