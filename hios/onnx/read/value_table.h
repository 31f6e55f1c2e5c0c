#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "hios/onnx/view.h"

namespace hios::onnx {

/// The values of a graph by name, while its nodes are read. A value is freed after its last use:
/// layers take their weights or hold copies, so a file would otherwise be in memory twice.
class ValueTable {
 public:
  /// Returns false if there is, or was, a value of this name. Does nothing for an empty name.
  bool define(const std::string& name, View view) {
    if (name.empty()) return true;
    if (!defined_.insert(name).second) return false;
    values_.emplace(name, std::move(view));
    return true;
  }
  /// Returns a value; null: it is not defined yet, or had its last use.
  const View* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }
  void add_uses(const std::vector<std::string>& names) {
    for (const std::string& name : names) ++uses_left_[name];
  }
  /// Returns the constants that only this reading of these names still needs.
  std::vector<const Constant*> last_uses(const std::vector<std::string>& names) const {
    std::vector<const Constant*> constants;
    for (const std::string& name : names) {
      const View* view = find(name);
      if (view == nullptr || !view->is_constant() || uses_left_.at(name) != 1) continue;
      if (std::get<1>(view->base).use_count() == 1) constants.push_back(&view->constant());
    }
    return constants;
  }
  void release(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (--uses_left_[name] == 0) values_.erase(name);
    }
  }
  /// Returns the bytes of all constants that are held.
  Bytes constant_bytes() const {
    std::set<const Constant*> counted;
    Bytes bytes = 0;
    for (const auto& [name, view] : values_) {
      if (view.is_constant() && counted.insert(&view.constant()).second)
        bytes += view.constant().size_bytes();
    }
    return bytes;
  }

 private:
  std::unordered_map<std::string, View> values_;  ///< the values that are still to be used
  std::unordered_map<std::string, std::size_t> uses_left_;
  std::set<std::string> defined_;  ///< names of all values, freed ones included
};

}  // namespace hios::onnx
