// ONNX's own cases for single operators: each is computed correctly, or refused in a line that
// names the operator. One rank computes; tests/cli/programs/files/onnx_test.cpp runs files on
// several.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>

#include "engine/backend/tensor_source.h"
#include "engine/backends.h"
#include "engine/job/verification.h"
#include "engine/onnx/node_cases.h"
#include "hios/base/error.h"
#include "hios/graph/network.h"
#include "hios/onnx/read/import.h"
#include "support/programs/temporary_folder.h"

namespace hios::test {
namespace {

constexpr std::size_t kFewestCorrect = 450, kFewestOfAllInputsCorrect = 180,
                      kFewestConstantCorrect = 570;

/// The case's inputs.
class GivenInputs final : public TensorSource {
 public:
  explicit GivenInputs(const std::vector<OnnxValues>& inputs) : inputs_(inputs) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override {
    seeded_.weights(model, layer, out);
  }
  void bias(const Model& model, const Layer& layer, std::span<float> out) override {
    seeded_.bias(model, layer, out);
  }
  void input(const Model& model, std::span<float> out) override {
    const std::vector<InputPlace> places = places_of(model.named_inputs());
    ASSERT_EQ(places.size(), inputs_.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      const OnnxValues& given = inputs_[i];
      ASSERT_EQ(static_cast<std::int64_t>(given.values.size()), places[i].rows * places[i].count);
      put(in_memory_order(given.values, given.dims), places[i], out);
    }
  }

 private:
  const std::vector<OnnxValues>& inputs_;
  SeededSource seeded_{0};
};

/// Returns the first difference; empty if there is none.
std::string difference(const std::vector<float>& got, const std::vector<float>& wanted) {
  if (got.size() != wanted.size()) return "another number of values";
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double a = got[i], b = wanted[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b || std::fabs(a - b) <= 1e-5 + 1e-4 * std::fabs(b)) continue;
    return "value " + std::to_string(i) + " is " + std::to_string(a) + ", not " + std::to_string(b);
  }
  return {};
}

std::string run(const OnnxCase& the_case, const Model& model, Backend& backend) {
  const CoarseGraph coarse = coarsen(model);
  GivenInputs source(the_case.inputs);
  const job::OneRankRun run(coarse, model, backend, std::vector<int>(coarse.graph.size(), 1),
                            source, "");
  if (model.named_outputs().size() != the_case.outputs.size()) return "another number of outputs";
  for (std::size_t i = 0; i < the_case.outputs.size(); ++i) {
    const NamedOutput& output = model.named_outputs()[i];
    if (output.dims != the_case.outputs[i].dims) return "other extents";
    const std::vector<float> got = run.output(*coarse.producer(output.tensor));
    const std::string line =
        difference(in_row_major_order(got, output.dims), the_case.outputs[i].values);
    if (!line.empty()) return line;
  }
  return {};
}

class OnnxNodes : public testing::TestWithParam<std::string> {};

/// Expects that each case is computed correctly or refused, and at least so many correctly.
void expect_correct_or_refused(const std::vector<OnnxCase>& cases, const std::string& backend_name,
                               std::size_t fewest) {
  ASSERT_GT(cases.size(), 300u) << "libonnx-testdata is not what it was";
  const auto backend = find_backend(backend_name).make({});
  TemporaryFolder folder;
  std::size_t correct = 0;
  std::map<std::string, int> refused;
  for (const OnnxCase& each : cases) {
    SCOPED_TRACE(each.name);
    const std::string file = (folder.path() / "model.onnx").string();
    std::ofstream(file, std::ios::binary) << each.model;
    try {
      const Model model = onnx::import_model(file, {.kernel = layer_kernel()});
      const std::string wrong = each.outputs.empty()
                                    ? "has outputs of integers, and was not refused"
                                    : run(each, model, *backend);
      EXPECT_EQ(wrong, "");
      if (wrong.empty()) ++correct;
    } catch (const InputError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("model.onnx"), std::string::npos) << text;
      ++refused[text.substr(text.find("model.onnx") + 12)];
    }
  }
  std::printf("%s: %zu cases, %zu correct, %zu refused\n", backend_name.c_str(), cases.size(),
              correct, cases.size() - correct);
  for (const auto& [text, count] : refused) std::printf("  %d x %s\n", count, text.c_str());
  EXPECT_GE(correct, fewest);
}

TEST(OnnxInputs, AreCorrectOrRefused) {
  expect_correct_or_refused(onnx_cases_of_all_inputs(HIOS_ONNX_TESTDATA "/node"), "reference",
                            kFewestOfAllInputsCorrect);
}

TEST_P(OnnxNodes, AreCorrectOrRefused) {
  expect_correct_or_refused(onnx_cases(HIOS_ONNX_TESTDATA "/node"), GetParam(), kFewestCorrect);
}

// Everything is known while the file is read: the constants are judged by ONNX's own results.
TEST(OnnxConstants, AreCorrectOrRefused) {
  expect_correct_or_refused(onnx_constant_cases(HIOS_ONNX_TESTDATA "/node"), "reference",
                            kFewestConstantCorrect);
}

std::vector<std::string> host_backend_names() {
  std::vector<std::string> names;
  for (const BackendEntry& entry : backends()) {
    if (entry.make != nullptr && entry.kind == "cpu") names.emplace_back(entry.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Backends, OnnxNodes, testing::ValuesIn(host_backend_names()),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace hios::test
