#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hios/base/files/file_io.h"
#include "hios/base/json/json_view.h"
#include "hios/model/tensor.h"

/// Operators that are cut over devices: each becomes several shards, which compute some rows or
/// channels of its output each. Format `hios-cuts` (docs/formats.md).
namespace hios {

/// The cut of one operator. Its shards begin at `at`, or have sizes in proportion to `parts`; one
/// of the two is empty.
struct Cut {
  std::string op;                ///< the operator's name
  std::vector<std::int64_t> at;  ///< ascending; a shard begins at each of them, and at 0
  /// Rows that each shard computes beyond its own on both sides, as far as there are any, so that
  /// the operators that read it need fewer rows of other shards. 0 for channels.
  std::int64_t overlap = 0;
  Axis axis = Axis::kH;  ///< kH, rows; or kC, channels
  /// Shares of the rows, or of the blocks of 16 channels; each shard has at least one.
  std::vector<std::int64_t> parts = {};
  /// Where a file has it ("cuts.json: $.cuts[0]"), for messages. Cuts are equal wherever they
  /// stand.
  std::string where = "cuts";

  bool operator==(const Cut& other) const {
    return op == other.op && at == other.at && overlap == other.overlap && axis == other.axis &&
           parts == other.parts;
  }
};

using Cuts = std::vector<Cut>;

/// Reads a `hios-cuts` document. Throws InputError that names the place: an operator that is there
/// twice, an unknown axis, shards that do not ascend or are empty, no shards, an overlap that is
/// negative or of channels.
Cuts cuts_from_json(const JsonView& document);
Json to_json(const Cuts& cuts);

/// The list alone, as a schedule has it.
Cuts cut_list_from_json(const JsonView& list);
Json cut_list_to_json(const Cuts& cuts);

/// Reads the file, or the cuts of a schedule's file; for the word "none" there are no cuts.
Cuts load_cuts(const std::string& word_or_file, const ReadLimits& limits);

}  // namespace hios
