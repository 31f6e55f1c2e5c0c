#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "engine/cpu/kernels/parallel.h"

namespace hios::cpu {

/// Rows of all images, one after the other, that are computed in blocks. Data between two steps of
/// a block stay in cache.
struct RowsInBlocks {
  std::int64_t rows = 0;
  std::int64_t row_bytes = 0;      ///< of what shall stay in cache
  std::int64_t weights_bytes = 0;  ///< every block reads all of them
};

/// Blocks of neighbouring rows. Either each thread computes blocks by itself, or one worker
/// computes all of them with a team of all threads.
struct BlockDivision {
  int workers = 1;
  int threads = 1;  ///< of each worker
  std::int64_t rows = 0, blocks = 0;
  std::int64_t block_rows = 0;  ///< of each but the last; 0: as even as whole rows allow

  /// Returns a block's first row; with the number of blocks, the end.
  std::int64_t first_row(std::int64_t block) const {
    return block_rows > 0 ? std::min(block * block_rows, rows) : rows * block / blocks;
  }
  /// Return a block's rows: a division has blocks of two sizes at most.
  std::int64_t most_rows() const {
    return block_rows > 0 ? std::min(block_rows, rows) : quotient_up(rows, blocks);
  }
  std::int64_t fewest_rows() const {
    return block_rows > 0 ? rows - (blocks - 1) * block_rows : rows / blocks;
  }
  std::int64_t longest_share() const;  ///< in rows: the most that a worker computes
};

/// Divides rows so that a block's data and the weights stay in a core's second-level cache. Each
/// thread computes blocks by itself where these divide evenly and it can keep all weights: then it
/// finds a block's data in its own cache and waits for no other. `block_rows`: the rows of a block;
/// 0: as many as fit.
BlockDivision divide_rows(const RowsInBlocks& rows, int threads, std::int64_t block_rows = 0);

/// Images of so many rows each, which are computed in blocks of one image.
struct ImagesInBlocks {
  std::int64_t images = 1, rows = 0;
  std::int64_t row_bytes = 0;      ///< of what shall stay in cache
  std::int64_t weights_bytes = 0;  ///< every block reads all of them
};

/// Divides images in the same way, each into as many blocks. The division counts whole blocks, so
/// that it may have more rows than an image: blocks × block_rows = images × blocks of each ×
/// block_rows.
BlockDivision divide_images(const ImagesInBlocks& images, int threads);

/// The workers of a division, on the calling thread's team. Not copied.
class BlockWorkers {
 public:
  explicit BlockWorkers(const BlockDivision& division)
      : division_(division), errors_(static_cast<std::size_t>(division.workers)) {}

  const BlockDivision& division() const { return division_; }

  /// Calls compute(worker, first row, rows) for each block. Rethrows the first worker's exception.
  template <class Compute>
  void run(Compute&& compute) {
    if (division_.workers == 1) {
      run_share({0, static_cast<std::size_t>(division_.blocks)}, 0, compute);
      return;
    }
    parallel(division_.workers, [&](int worker, int workers) {
      const auto index = static_cast<std::size_t>(worker);
      try {
        run_share(share_of(static_cast<std::size_t>(division_.blocks), worker, workers), index,
                  compute);
      } catch (...) {  // it must not leave the team
        errors_[index] = std::current_exception();
      }
    });
    std::exception_ptr first;
    for (std::exception_ptr& error : errors_) {
      const std::exception_ptr thrown = std::exchange(error, nullptr);
      if (!first) first = thrown;
    }
    if (first) std::rethrow_exception(first);
  }

 private:
  template <class Compute>
  void run_share(const Share& share, std::size_t worker, Compute& compute) {
    for (std::size_t block = share.begin; block < share.end; ++block) {
      const auto index = static_cast<std::int64_t>(block);
      const std::int64_t first = division_.first_row(index);
      compute(worker, first, division_.first_row(index + 1) - first);
    }
  }

  BlockDivision division_;
  std::vector<std::exception_ptr> errors_;  // by worker
};

}  // namespace hios::cpu
