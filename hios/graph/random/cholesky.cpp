// Part of hios/graph/random/families.h: the tasks of a tiled Cholesky factorization A = L·Lᵀ,
// right-looking (Buttari, Langou, Kurzak and Dongarra, "A class of parallel tiled linear algebra
// algorithms for multicore architectures"), a network that is regular, deep and wide.
//
// In step k POTRF factors tile (k, k), TRSM solves the tiles (i, k) below it, and tiles after
// column k are updated: SYRK those of the diagonal, GEMM the others. A task reads the tile that it
// writes, with its value after the previous step, and the tiles of column k that it needs. The
// order of the tasks is topological. T tiles a side make T POTRF, T(T−1)/2 TRSM, as many SYRK, and
// T(T−1)(T−2)/6 GEMM: T(T+1)(T+2)/6 tasks. The seed has no influence.
// tests/hios/graph/random/random_families_test.cpp counts them and follows the edges.
#include <optional>

#include "hios/graph/random/families.h"

namespace hios::families {
namespace {

/// Returns the largest number of tiles a side for which the tasks are not more than `operators`.
std::size_t tiles_within(std::size_t operators) {
  std::size_t tiles = 1;
  while ((tiles + 1) * (tiles + 2) * (tiles + 3) / 6 <= operators) ++tiles;
  return tiles;
}

/// The tasks in order; each tile knows the last task that wrote it.
class Factorization {
 public:
  explicit Factorization(std::size_t tiles) : tiles_(tiles), written_by_(tiles * tiles) {}

  Structure run() && {
    for (std::size_t k = 0; k < tiles_; ++k) {
      write("POTRF", {k}, k, k, {});
      for (std::size_t i = k + 1; i < tiles_; ++i) write("TRSM", {i, k}, i, k, {{k, k}});
      for (std::size_t i = k + 1; i < tiles_; ++i) {
        write("SYRK", {i, k}, i, i, {{i, k}});
        for (std::size_t j = k + 1; j < i; ++j) write("GEMM", {i, j, k}, i, j, {{i, k}, {j, k}});
      }
    }
    return std::move(made_);
  }

 private:
  using Tile = std::pair<std::size_t, std::size_t>;

  std::optional<std::size_t>& writer(const Tile& tile) {
    return written_by_[tile.first * tiles_ + tile.second];
  }

  /// Adds a task that writes tile (row, column) and also reads others.
  void write(std::string name, const std::vector<std::size_t>& indices, std::size_t row,
             std::size_t column, std::vector<Tile> read) {
    for (const std::size_t index : indices) name.append("_").append(std::to_string(index));
    read.emplace_back(row, column);
    for (const Tile& tile : read) {
      if (writer(tile)) made_.edges.emplace_back(*writer(tile), made_.operators);
    }
    writer({row, column}) = made_.operators++;
    made_.names.push_back(std::move(name));
  }

  std::size_t tiles_;
  std::vector<std::optional<std::size_t>> written_by_;
  Structure made_;
};

}  // namespace

std::size_t cholesky_edges_at_most(const RandomDag& parameters) {
  return 3 * parameters.operators;  // a GEMM reads three tiles
}

Structure draw_cholesky(const RandomDag& parameters, Random&) {
  return Factorization(tiles_within(parameters.operators)).run();
}

}  // namespace hios::families
