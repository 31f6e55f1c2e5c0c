#pragma once

#include <memory>

namespace hios::scheduler {

/// Returns a pointer to a value that the caller keeps.
template <class Value>
std::shared_ptr<const Value> borrowed(const Value& value) {
  return std::shared_ptr<const Value>(std::shared_ptr<void>(), &value);
}

}  // namespace hios::scheduler
