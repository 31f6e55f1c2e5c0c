#include "hios/graph/cuts/even_cuts.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "hios/base/error.h"
#include "hios/graph/cuts/shard.h"

namespace hios {
namespace {

/// Returns the number of rows of which shards begin at multiples.
std::int64_t rows_of_blocks(const Model& model, const OperatorLayers& op) {
  for (const LayerId id : op.layers) {
    const Conv* const conv = std::get_if<Conv>(&model.layer(id).kind);
    if (conv == nullptr || conv->groups != 1 || conv->kernel != Extent{3, 3}) continue;
    if (conv->stride == Extent{1, 1} && conv->dilation == Extent{1, 1}) return 4;
  }
  return 1;
}

/// Returns the rows at which shards begin; none where one would have fewer than two.
std::vector<std::int64_t> rows_by_shares(std::int64_t height, std::span<const std::int64_t> shares,
                                         std::int64_t block) {
  const std::int64_t all = std::reduce(shares.begin(), shares.end());
  std::vector<std::int64_t> at;
  std::int64_t before = 0, share = 0;
  for (const std::int64_t each : shares.first(shares.size() - 1)) {
    share += each;
    const std::int64_t row = (height * share + all * block / 2) / (all * block) * block;
    if (row < before + 2 || row + 2 > height) return {};
    at.push_back(row);
    before = row;
  }
  return at;
}

/// Returns the rows at which equal shards begin, the last of which has the rest; none as above.
std::vector<std::int64_t> equal_rows(std::int64_t height, std::int64_t parts) {
  std::int64_t each = (height + parts - 1) / parts;
  if (each * (parts - 1) + 2 > height) each = height / parts;
  std::vector<std::int64_t> at;
  for (std::int64_t part = 1; part < parts && each >= 2; ++part) at.push_back(each * part);
  return at;
}

/// Returns the rows at which shards begin, where shares are equal for as many of them as there can
/// be; none where there cannot be two.
std::vector<std::int64_t> most_rows(std::int64_t height, std::span<const std::int64_t> shares,
                                    std::int64_t block) {
  const bool equal = std::ranges::adjacent_find(shares, std::not_equal_to{}) == shares.end();
  if (!equal) return rows_by_shares(height, shares, block);
  std::vector<std::int64_t> at;
  for (; shares.size() >= 2 && at.empty(); shares = shares.subspan(1)) {
    at = block > 1 ? rows_by_shares(height, shares, block) : equal_rows(height, std::ssize(shares));
  }
  return at;
}

}  // namespace

Cuts even_cuts(const Model& model, const CoarseGraph& operators,
               std::span<const std::int64_t> shares) {
  Cuts cuts;
  std::map<std::string, bool> can_be_cut;  // by signature
  for (std::size_t i = 0; i < operators.operators.size(); ++i) {
    const OperatorLayers& op = operators.operators[i];
    const std::int64_t height = model.tensor(op.output).shape.h;
    Cut cut{.op = operators.graph.op(OpId(i)).name,
            .at = most_rows(height, shares, rows_of_blocks(model, op))};
    if (cut.at.empty()) continue;
    const auto [known, is_new] = can_be_cut.emplace(operators.graph.op(OpId(i)).signature, true);
    if (is_new) {
      try {
        (void)shard(model, operators, {cut});
      } catch (const InputError&) {
        known->second = false;
      }
    }
    if (known->second) cuts.push_back(std::move(cut));
  }
  return cuts;
}

}  // namespace hios
