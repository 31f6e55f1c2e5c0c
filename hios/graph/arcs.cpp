#include "hios/graph/arcs.h"

#include <algorithm>
#include <limits>

namespace hios {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

class ComponentSearch {
 public:
  explicit ComponentSearch(const Arcs& arcs)
      : arcs_(arcs),
        component_(arcs.size(), kNone),
        index_(arcs.size(), kNone),
        low_(arcs.size(), 0),
        next_(arcs.size(), 0) {}

  std::vector<std::size_t> run() {
    for (std::size_t root = 0; root < arcs_.size(); ++root) {
      if (index_[root] == kNone) enter(root);
      while (!path_.empty()) step();
    }
    return std::move(component_);
  }

 private:
  void enter(std::size_t node) {
    index_[node] = low_[node] = visited_++;
    path_.push_back(node);
    open_.push_back(node);
  }

  void step() {
    const std::size_t node = path_.back();
    if (next_[node] < arcs_.from(node).size()) {
      const std::size_t to = arcs_.from(node)[next_[node]++];
      if (index_[to] == kNone) {
        enter(to);
      } else if (component_[to] == kNone) {
        low_[node] = std::min(low_[node], index_[to]);
      }
      return;
    }
    path_.pop_back();
    if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[node]);
    if (low_[node] == index_[node]) close(node);
  }

  void close(std::size_t root) {
    std::size_t node = kNone;
    do {
      node = open_.back();
      open_.pop_back();
      component_[node] = count_;
    } while (node != root);
    ++count_;
  }

  const Arcs& arcs_;
  std::vector<std::size_t> component_, index_, low_, next_;
  std::vector<std::size_t> path_, open_;
  std::size_t visited_ = 0, count_ = 0;
};

}  // namespace

std::vector<std::size_t> strong_components(const Arcs& arcs) { return ComponentSearch(arcs).run(); }

std::vector<std::size_t> cycle_through(const Arcs& arcs, std::span<const std::size_t> components,
                                       std::size_t start) {
  // Breadth first from `start` back to itself, inside its component.
  std::vector<std::size_t> parent(arcs.size(), kNone), queue{start};
  for (std::size_t i = 0; i < queue.size() && parent[start] == kNone; ++i) {
    for (const std::size_t to : arcs.from(queue[i])) {
      if (components[to] != components[start] || parent[to] != kNone) continue;
      parent[to] = queue[i];
      queue.push_back(to);
    }
  }
  std::vector<std::size_t> cycle{start};
  while (parent[cycle.back()] != start) cycle.push_back(parent[cycle.back()]);
  return cycle;
}

}  // namespace hios
