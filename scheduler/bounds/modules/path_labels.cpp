#include "scheduler/bounds/modules/path_labels.h"

#include <algorithm>

// Lists are sorted by length, and prices decrease along them, so that two are merged or joined by
// one walk along both.

namespace hios::scheduler {
namespace {

void append_cheaper(PathLabels& into, const PathLabel& label) {
  if (!into.empty() && !(label.price_ms < into.back().price_ms)) return;
  if (!into.empty() && label.length_ms == into.back().length_ms) {
    into.back() = label;
  } else {
    into.push_back(label);
  }
}

}  // namespace

void merge_labels(const PathLabels& a, const PathLabels& b, double more_ms, PathLabels& into) {
  into.clear();
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].length_ms <= b[j].length_ms + more_ms)) {
      append_cheaper(into, a[i++]);
    } else {
      PathLabel label = b[j++];
      label.length_ms += more_ms;
      append_cheaper(into, label);
    }
  }
}

void join_labels(const PathLabels& a, const PathLabels& b, PathLabels& into) {
  into.clear();
  if (a.empty() || b.empty()) return;
  std::size_t i = 0, j = 0;
  double length_ms = std::max(a.front().length_ms, b.front().length_ms);
  while (true) {
    while (i + 1 < a.size() && a[i + 1].length_ms <= length_ms) ++i;
    while (j + 1 < b.size() && b[j + 1].length_ms <= length_ms) ++j;
    into.push_back({length_ms, a[i].price_ms + b[j].price_ms, 0});
    const bool more_a = i + 1 < a.size(), more_b = j + 1 < b.size();
    if (!more_a && !more_b) return;
    const bool next_a = more_a && (!more_b || a[i + 1].length_ms <= b[j + 1].length_ms);
    length_ms = next_a ? a[i + 1].length_ms : b[j + 1].length_ms;
  }
}

void limit_labels(PathLabels& labels, std::size_t most) {
  if (labels.size() <= most) return;
  const double first = labels.front().length_ms;
  const double width = (labels.back().length_ms - first) / static_cast<double>(most);
  std::size_t kept = 0, group = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto own = std::min(
        most - 1, static_cast<std::size_t>(std::max(0.0, (labels[i].length_ms - first) / width)));
    if (i > 0 && own == group) {
      labels[kept - 1].price_ms = labels[i].price_ms;
      labels[kept - 1].trace = labels[i].trace;
    } else {
      labels[kept++] = labels[i];
    }
    group = own;
  }
  labels.resize(kept);
}

}  // namespace hios::scheduler
