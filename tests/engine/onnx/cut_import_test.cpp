// An ONNX network with weights of its own, cut by rows and channels, on several ranks.
#include <gtest/gtest.h>

#include "engine/backend/tensor_source.h"
#include "hios/model/networks/networks.h"
#include "hios/onnx/read/import.h"
#include "hios/onnx/write/export.h"
#include "support/networks/random_cuts.h"
#include "support/programs/temporary_folder.h"

namespace hios {
namespace {

/// Writes a model with these weights as ONNX and reads it.
Model through_onnx(const Model& model) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "net.onnx").string();
  SeededSource source(3);
  onnx::export_model(
      model, [&](const Layer& layer) { return values_of(source, model, layer); }, file,
      Existing::kRefuse);
  return onnx::import_model(file);
}

TEST(CutImport, RanksHaveTheBitsOfTheWhole) {
  std::size_t cut = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed, "cut import");
    const Model drawn =
        seed == 0 ? models::find("squeezenet")->build(1, 48, 48) : test::random_layers(12, random);
    const Model model = through_onnx(drawn);
    ASSERT_NE(model.weights(), nullptr);
    const Cuts cuts = test::random_cuts(model, random);
    if (cuts.empty()) continue;
    test::expect_cut_ranks_like(Network(model), test::cut_network(model, cuts), seed);
    cut += cuts.size();
  }
  EXPECT_GT(cut, 40u);
}

}  // namespace
}  // namespace hios
