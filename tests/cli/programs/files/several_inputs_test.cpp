// Networks of several inputs from beginning to end: files of integers and truth values by the
// inputs' names, two ranks, and what is refused.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hios/base/files/npy.h"
#include "support/layers/onnx_builder.h"
#include "support/programs/programs.h"

namespace hios::test {
namespace {

/// Returns the bytes of an .npy file.
template <class Number>
std::string npy_bytes(const std::string& type, const std::string& shape,
                      const std::vector<Number>& values) {
  const std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number));
  return bytes;
}

/// A picture, the ids of a text and a mask of its words: the words of a table, as far as the mask
/// keeps them, times what a convolution makes of the picture.
class SeveralInputs : public testing::Test {
 protected:
  SeveralInputs() {
    b_.input("picture", {1, 2, 4, 4});
    b_.input("ids", {1, 3}, proto::TensorProto::INT64);
    b_.input("mask", {1, 3}, proto::TensorProto::BOOL);
    b_.floats("w", {4, 2, 4, 4}, std::vector<float>(128, 0.125f));
    b_.floats("table", {5, 4},
              {0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33, 40, 41, 42, 43});
    b_.integers("flat", {1, 1, 4});
    b_.integers("last", {2});
    b_.floats("none", {}, {0});
    b_.node("Conv", {"picture", "w"}, "seen");
    b_.node("Reshape", {"seen", "flat"}, "feature");
    b_.node("Gather", {"table", "ids"}, "words");
    b_.node("Unsqueeze", {"mask", "last"}, "kept");
    b_.node("Where", {"kept", "words", "none"}, "text");
    b_.node("Mul", {"text", "feature"}, "y");
    b_.output("y");
    model_ = {"--model", b_.write()};
    const std::vector<float> picture(32, 0.5f);
    folder_.write("picture.npy", npy_bytes("<f4", "1, 2, 4, 4", picture));
    folder_.write("ids.npy", npy_bytes<std::int64_t>("<i8", "1, 3", {4, 0, -2}));
    folder_.write("mask.npy", npy_bytes<std::uint8_t>("|b1", "1, 3", {1, 0, 1}));
  }

  std::string given(const char* name) const {
    return std::string(name) + ":" + folder_.file(std::string(name) + ".npy");
  }
  Words inputs() const {
    return {"--input", given("mask"), "--input", given("picture"), "--input", given("ids")};
  }
  Words quick() const { return {"--iterations", "2", "--warmup", "1"}; }

  OnnxBuilder b_;
  TestFolder folder_;
  Words model_;
};

TEST_F(SeveralInputs, AreFilesOfTheirNamesAndTypes) {
  const auto done = hios_run(
      1, model_ + quick() + inputs() + Words{"--outputs", folder_.file("out"), "--verify"});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const NpyArray y = read_npy(folder_.file("out/0.npy"), {});
  EXPECT_EQ(y.dims, (std::vector<std::int64_t>{1, 3, 4}));
  // Each feature is 32 · 0.5 · 0.125 = 2.
  EXPECT_EQ(y.values, (std::vector<float>{80, 82, 84, 86, 0, 0, 0, 0, 60, 62, 64, 66}));
}

TEST_F(SeveralInputs, AreListedByName) {
  const std::string file = folder_.file("list.json");
  const auto done = hios_schedule(model_ + Words{"--list-operators", "--json", file});
  ASSERT_EQ(done.exit_status, 0) << done.err;
  const Json list = read(file);
  EXPECT_EQ(list["input"], Json({{"shape", {1, 32 + 3 + 3, 1, 1}}}));
  EXPECT_EQ(list["inputs"], Json({{{"name", "picture"}, {"dims", {1, 2, 4, 4}}},
                                  {{"name", "ids"}, {"dims", {1, 3}}, {"below", 5}},
                                  {{"name", "mask"}, {"dims", {1, 3}}, {"below", 2}}}));
}

#ifdef HIOS_MPIEXEC
TEST_F(SeveralInputs, GiveTwoRanksOneRanksBits) {
  const std::string list = folder_.file("list.json"), schedule = folder_.file("s.json");
  ASSERT_EQ(hios_schedule(model_ + Words{"--list-operators", "--json", list}).exit_status, 0);
  // Each rank has every other operator, so that inputs are read on both.
  const Json listed = read(list);
  Json plan{{"format", "hios-schedule"},
            {"version", 1},
            {"graph", {{"name", listed["model"]}, {"digest", listed["digest"]}}},
            {"devices", Json::array({{{"name", "a"},
                                      {"kind", "cpu"},
                                      {"threads", 1},
                                      {"streams", 1},
                                      {"stages", Json::array()}},
                                     {{"name", "b"},
                                      {"kind", "cpu"},
                                      {"threads", 1},
                                      {"streams", 1},
                                      {"stages", Json::array()}}})}};
  std::size_t next = 0;
  for (const Json& op : listed["operators"]) {
    plan["devices"][next++ % 2]["stages"].push_back(Json::array({Json::array({op["name"]})}));
  }
  folder_.write("s.json", plan.dump());
  const auto two = hios_run(
      2, model_ + quick() + inputs() +
             Words{"--schedule", schedule, "--verify=operators", "--json", folder_.file("r.json")});
  ASSERT_EQ(two.exit_status, 0) << two.err;
  EXPECT_TRUE(read(folder_.file("r.json"))["verified"]["bitwise"].get<bool>());
}
#endif

/// The size of a schedule is that of one input with a batch. These have none, or another one.
TEST_F(SeveralInputs, KeepTheirExtentsFromProfileToRun) {
  using Extents = std::vector<std::int64_t>;
  const std::vector<std::vector<Extents>> networks = {
      {{2, 4, 8, 8}, {1}}, {{2, 3}, {3}, {2, 2, 3}}, {{5}, {5}}, {{}}, {{5}}};
  const std::string profile = folder_.file("p.json"), schedule = folder_.file("s.json");
  for (const auto& network : networks) {
    OnnxBuilder b;
    std::string sum;
    for (std::size_t i = 0; i < network.size(); ++i) {
      const std::string name = "x" + std::to_string(i);
      b.input(name, network[i]);
      b.node(i == 0 ? "Relu" : "Add", i == 0 ? Words{name} : Words{sum, name},
             "sum" + std::to_string(i));
      sum = "sum" + std::to_string(i);
    }
    b.output(sum);
    const Words model{"--model", b.write()}, again{"--force"};
    SCOPED_TRACE(network.size());
    const auto measured =
        hios_profile(1, model + quick() + again + Words{"--stages", "none", "--output", profile});
    ASSERT_EQ(measured.exit_status, 0) << measured.err;
    const auto planned = hios_schedule(model + again +
                                       Words{"--profile", profile, "--devices", "1", "--algorithm",
                                             "sequential", "--output", schedule});
    ASSERT_EQ(planned.exit_status, 0) << planned.err;
    const auto done = hios_run(1, model + quick() + Words{"--schedule", schedule, "--verify"});
    EXPECT_EQ(done.exit_status, 0) << done.err;
  }
}

TEST_F(SeveralInputs, RefuseFilesForNothing) {
  const auto refused = [&](const Words& flags, const std::string& message) {
    const auto done = hios_run(1, model_ + flags);
    EXPECT_EQ(done.exit_status, 2) << done.err;
    EXPECT_EQ(lines_with(done.err, message).size(), 1u) << message << " in " << done.err;
  };
  refused({"--input", given("ids")},
          "no file for 'picture' and 'mask': give all inputs or none; add --input picture:FILE "
          "--input mask:FILE");
  refused({"--input", folder_.file("ids.npy")},
          "the model has the inputs 'picture', 'ids' and 'mask': say which of them, as in --input "
          "picture:");
  refused(inputs() + Words{"--input", given("ids")}, "input 'ids' has a file already");
  folder_.write("ids.npy", npy_bytes<std::int32_t>("<i4", "1, 3", {4, 0, 5}));
  refused(inputs(), "ids.npy: holds 5 at [0, 2], and input 'ids' looks up a table of 5 rows");
  folder_.write("ids.npy", npy_bytes<float>("<f4", "1, 3", {4, 0, 1.5}));
  refused(inputs(), "ids.npy: holds 1.5 at [0, 2], and input 'ids' takes whole numbers");
  folder_.write("ids.npy", npy_bytes<float>("<f4", "3", {4, 0, 1}));
  refused(inputs(), "ids.npy: holds 3 where input 'ids' takes 1x3 (float32, 12 bytes)");
  folder_.write("ids.npy", npy_bytes<std::int64_t>("<i8", "1, 3", {4, 0, -2}));
  folder_.write("mask.npy", npy_bytes<std::int32_t>("<i4", "1, 3", {1, 2, 0}));
  refused(inputs(), "mask.npy: holds 2 at [0, 1], and input 'mask' takes truth values, 0 and 1");
}

}  // namespace
}  // namespace hios::test
