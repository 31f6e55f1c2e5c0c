// Part of hios/onnx/operators/families.h: Einsum, as products of matrices. For two operands, the
// letters that both have and the result keeps are batches, those that both have and it drops are
// multiplied and summed, and the others are rows of the one or columns of the other. More operands
// are combined from the first to the last.
#include <algorithm>
#include <map>
#include <string>

#include "hios/onnx/operators/families.h"

namespace hios::onnx {
namespace {

/// A tensor with a letter for each axis.
struct Lettered {
  View view;
  std::string letters;

  bool has(char letter) const { return letters.find(letter) != std::string::npos; }
  std::int64_t extent(char letter) const { return view.dims[letters.find(letter)]; }
};

/// Returns the tensor with its axes in this order.
View in_order(const Lettered& tensor, const std::string& letters) {
  std::vector<std::size_t> axes;
  for (const char letter : letters) axes.push_back(tensor.letters.find(letter));
  return transpose(tensor.view, axes);
}

/// Sums along the axes whose letters are not among those that are kept.
Lettered without_others(LayerEmitter& emitter, Lettered tensor, const std::string& kept) {
  std::vector<bool> summed;
  std::string left;
  for (const char letter : tensor.letters) {
    summed.push_back(kept.find(letter) == std::string::npos);
    if (!summed.back()) left += letter;
  }
  if (left == tensor.letters) return tensor;
  return {sum_along(emitter, tensor.view, summed), left};
}

Lettered multiplied(LayerEmitter& emitter, const Lettered& a, const Lettered& b,
                    const std::string& kept) {
  std::string batches, rows, columns, inner;
  Dims batch_dims, row_dims, column_dims;
  for (const char letter : a.letters) {
    const bool keeps = kept.find(letter) != std::string::npos;
    if (b.has(letter) && a.extent(letter) != b.extent(letter)) {
      emitter.fail("its operands have other extents of '" + std::string(1, letter) + "'");
    }
    (b.has(letter) ? (keeps ? batches : inner) : rows) += letter;
    if (b.has(letter) && keeps) batch_dims.push_back(a.extent(letter));
    if (!b.has(letter)) row_dims.push_back(a.extent(letter));
  }
  std::int64_t depth = 1;
  for (const char letter : inner) depth *= a.extent(letter);
  for (const char letter : b.letters) {
    if (a.has(letter)) continue;
    columns += letter;
    column_dims.push_back(b.extent(letter));
  }
  Dims left = batch_dims, right = batch_dims, result = batch_dims;
  left.insert(left.end(), {elements(row_dims), depth});
  right.insert(right.end(), {depth, elements(column_dims)});
  result.insert(result.end(), row_dims.begin(), row_dims.end());
  result.insert(result.end(), column_dims.begin(), column_dims.end());
  const View x = reshape_to(emitter, in_order(a, batches + rows + inner), left),
             y = reshape_to(emitter, in_order(b, batches + inner + columns), right);
  return {reshape_to(emitter, matrix_product(emitter, x, y), result), batches + rows + columns};
}

/// Returns the letters of each operand and, last, of the result.
std::vector<std::string> terms_of(const Node& node) {
  std::string equation = node.text("equation", "");
  std::erase(equation, ' ');
  const std::size_t arrow = equation.find("->");
  std::vector<std::string> terms(1);
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter) node.fail("its equation has other signs than letters, which are not read");
      if (terms.back().find(c) != std::string::npos)
        node.fail("its equation takes a diagonal, which is not read");
      terms.back() += c;
    }
  }
  std::string result;
  if (arrow != std::string::npos) {
    result = equation.substr(arrow + 2);
  } else {  // the letters that occur once, in alphabetical order
    std::map<char, int> times;
    for (const char c : equation) ++times[c];
    for (const auto& [c, count] : times) {
      if (count == 1 && c != ',') result += c;
    }
  }
  for (std::size_t i = 0; i < result.size(); ++i) {
    const bool known = std::ranges::any_of(
        terms, [&](const std::string& term) { return term.find(result[i]) != std::string::npos; });
    if (!known || result.find(result[i], i + 1) != std::string::npos) {
      node.fail("the result of its equation has a letter that no operand has, or one twice");
    }
  }
  terms.push_back(result);
  return terms;
}

Views einsum(LayerEmitter& emitter, const Node& node) {
  const std::vector<std::string> terms = terms_of(node);
  if (node.input_count() + 1 != terms.size()) {
    node.fail("its equation has another number of operands than it has inputs");
  }
  Lettered all;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    Lettered next{node.input(i), terms[i]};
    if (next.view.rank() != next.letters.size())
      node.fail("its equation has other dimensions than its input " + std::to_string(i + 1));
    // Letters that no other operand and not the result has are summed at once.
    std::string later = terms.back();
    for (std::size_t k = i + 1; k < node.input_count(); ++k) later += terms[k];
    next = without_others(emitter, next, later + all.letters);
    if (i == 0) {
      all = next;
      continue;
    }
    all = multiplied(emitter, without_others(emitter, all, later + next.letters), next, later);
  }
  return {in_order(all, terms.back())};
}

}  // namespace

void add_einsum(Operators& operators) {
  operators["Einsum"] = {.emit = einsum, .attributes = {.read = {"equation"}}};
}

}  // namespace hios::onnx
