// Part of hios/model/networks/networks.h.

/// NASNet-A large (6 @ 4032; Zoph et al., 2018), up to global average pooling: a stem convolution,
/// two stem cells, then three runs of six normal cells with a reduction cell between runs. A cell
/// combines two hidden states (the outputs of earlier cells), each first brought to the cell's
/// channels; its five combinations each add two branches and most of them are concatenated.
///
/// The graph is that of the IOS study, whose operators the HIOS paper counts (374, with 576
/// dependencies); tests/hios/model/networks/networks_test.cpp compares every one. It departs from
/// the published cell in four points, which are kept so that results compare with the papers':
///  - a normal cell concatenates its five combinations; only the first of a run adds the older
///    state, and there the right branch of the first combination reads the newer state;
///  - the first stem cell adds combination 0, not 1, in its combination 3;
///  - the second stem cell adds the two halves of its factorised reduction, not concatenates them;
///  - the two reduction cells add combination 1 a second time for their output.
#include <array>

#include "hios/model/networks/block.h"
#include "hios/model/networks/networks.h"

namespace hios::models {
namespace {

/// Adds two separable convolutions in a row; the first has the stride and `middle` channels.
TensorId branch(Block& block, const std::string& name, TensorId x, std::int64_t middle,
                std::int64_t channels, std::int64_t kernel, std::int64_t stride) {
  x = block.relu_sepconv(name + "_1", x, middle, kernel, stride);
  return block.relu_sepconv(name + "_2", x, channels, kernel);
}

TensorId branch(Block& block, const std::string& name, TensorId x, std::int64_t channels,
                std::int64_t kernel, std::int64_t stride) {
  return branch(block, name, x, block.channels(x), channels, kernel, stride);
}

/// Brings an older state to half its extent: half the channels twice, from every second pixel.
std::array<TensorId, 2> factorised_reduction(Block& block, TensorId x, std::int64_t half) {
  return {block.relu_conv("older_a", x, valid(half, {1, 1}, 2)),
          block.relu_conv("older_b", x, valid(half, {1, 1}, 2))};
}

/// The differences between the cells of stride 2 (see the top of the file).
struct ReductionCell {
  std::int64_t channels = 0;
  bool narrow_at_once = false;         ///< older branches reach `channels` in their first half
  bool third_adds_first = false;       ///< combination 3 adds combination 0 instead of 1
  bool second_is_added_again = false;  ///< the output sums combination 1 itself
};

TensorId reduction_cell(Block& block, TensorId newer, TensorId older, const ReductionCell& cell) {
  const auto older_branch = [&](const std::string& name, std::int64_t kernel) {
    const std::int64_t middle = cell.narrow_at_once ? cell.channels : block.channels(older);
    return branch(block, name, older, middle, cell.channels, kernel, 2);
  };
  const TensorId left_0 = branch(block, "comb_0_left", newer, cell.channels, 5, 2);
  const TensorId right_0 = older_branch("comb_0_right", 7);
  const TensorId comb_0 = block.sum("comb_0", {left_0, right_0});
  const TensorId left_1 = block.max_pool("comb_1_left", newer, 2, 1);
  const TensorId right_1 = older_branch("comb_1_right", 7);
  const TensorId comb_1 = block.sum("comb_1", {left_1, right_1});
  const TensorId left_2 = block.average_pool("comb_2_left", newer, 2);
  const TensorId right_2 = older_branch("comb_2_right", 5);
  const TensorId pooled_3 = block.average_pool("comb_3_pool", comb_0);
  const TensorId left_4 = branch(block, "comb_4_left", comb_0, cell.channels, 3, 1);
  const TensorId right_4 = block.max_pool("comb_4_right", newer, 2, 1);

  const TensorId out_1 =
      cell.second_is_added_again ? block.sum("comb_1_again", {left_1, right_1}) : comb_1;
  const TensorId comb_2 = block.sum("comb_2", {left_2, right_2});
  const TensorId comb_3 = block.sum("comb_3", {pooled_3, cell.third_adds_first ? comb_0 : comb_1});
  const TensorId comb_4 = block.sum("comb_4", {left_4, right_4});
  return block.concat("concat", {out_1, comb_2, comb_3, comb_4});
}

/// Brings a state to the channels of a cell.
TensorId squeeze(Block& block, const std::string& name, TensorId x, std::int64_t channels) {
  return block.relu_conv(name, x, valid(channels, {1, 1}));
}

/// `first`: the first cell of a run, whose older state comes from before a reduction.
TensorId normal_cell(ModelBuilder& model, const std::string& name, TensorId newer_state,
                     TensorId older_state, std::int64_t channels, bool first) {
  Block block(model, name);
  TensorId older;
  if (first) {
    const auto [a, b] = factorised_reduction(block, older_state, channels / 2);
    older = block.concat("older", {a, b});
  } else {
    older = squeeze(block, "older", older_state, channels);
  }
  const TensorId newer = squeeze(block, "newer", newer_state, channels);

  const TensorId left_0 = branch(block, "comb_0_left", newer, channels, 5, 1);
  const TensorId right_0 = branch(block, "comb_0_right", first ? newer : older, channels, 3, 1);
  const TensorId left_1 = branch(block, "comb_1_left", older, channels, 5, 1);
  const TensorId right_1 = branch(block, "comb_1_right", older, channels, 3, 1);
  const TensorId left_2 = block.average_pool("comb_2_left", newer);
  const TensorId left_3 = block.average_pool("comb_3_left", older);
  const TensorId right_3 = block.average_pool("comb_3_right", older);
  const TensorId left_4 = branch(block, "comb_4_left", newer, channels, 3, 1);

  std::vector<TensorId> out;
  if (first) out.push_back(older);
  out.push_back(block.sum("comb_0", {left_0, right_0}));
  out.push_back(block.sum("comb_1", {left_1, right_1}));
  out.push_back(block.sum("comb_2", {left_2, older}));
  out.push_back(block.sum("comb_3", {left_3, right_3}));
  out.push_back(block.sum("comb_4", {left_4, newer}));
  return block.concat("concat", std::move(out));
}

}  // namespace

Model nasnet_large(std::int64_t batch, std::int64_t height, std::int64_t width) {
  constexpr std::int64_t kChannels = 168;
  constexpr int kCellsInARun = 6;
  ModelBuilder model("nasnet_large", {batch, 3, height, width});
  const TensorId stem = Block(model, "stem").conv("conv", model.input(), valid(96, {3, 3}, 2));

  Block stem_0(model, "stem_0");
  TensorId older =
      reduction_cell(stem_0, squeeze(stem_0, "newer", stem, kChannels / 4), stem,
                     {.channels = kChannels / 4, .narrow_at_once = true, .third_adds_first = true});

  Block stem_1(model, "stem_1");
  const TensorId squeezed = squeeze(stem_1, "newer", older, kChannels / 2);
  const auto [a, b] = factorised_reduction(stem_1, stem, kChannels / 4);
  TensorId newer =
      reduction_cell(stem_1, squeezed, stem_1.sum("older", {a, b}), {.channels = kChannels / 2});

  int cell = 0;
  for (int run = 0; run < 3; ++run) {
    const std::int64_t channels = kChannels << run;
    if (run > 0) {
      Block block(model, "reduction_" + std::to_string(run - 1));
      const TensorId left = squeeze(block, "older", older, channels);
      const TensorId right = squeeze(block, "newer", newer, channels);
      newer =
          reduction_cell(block, right, left, {.channels = channels, .second_is_added_again = true});
    }
    for (int i = 0; i < kCellsInARun; ++i) {
      const TensorId next =
          normal_cell(model, "cell_" + std::to_string(cell++), newer, older, channels, i == 0);
      older = newer;
      newer = next;
    }
  }

  Block head(model, "head");
  head.global_average_pool("pool", head.relu("relu", newer));
  return std::move(model).build();
}

}  // namespace hios::models
