#pragma once

#include <concepts>
#include <memory>
#include <string>

#include "hios/base/json/json.h"

namespace hios {

/// A JSON value that a struct owns: an empty object at first, copied and compared as the value is.
/// A header with such a member needs only the JSON library's declarations; its templates took half
/// of the time to compile a scheduler, which never touches JSON.
class OwnedJson {
 public:
  OwnedJson();
  /// A template, so that overload resolution asks of no other type whether it converts to Json.
  template <std::same_as<Json> Value>
  OwnedJson(const Value& value) : OwnedJson(Copied{&value}) {}
  OwnedJson(const OwnedJson& other);
  OwnedJson(OwnedJson&& other) noexcept;  ///< `other` can then only be assigned to or destroyed
  OwnedJson& operator=(OwnedJson other) noexcept;
  ~OwnedJson();

  const Json& operator*() const { return *value_; }
  Json& operator*() { return *value_; }
  const Json* operator->() const { return value_.get(); }
  Json* operator->() { return value_.get(); }
  operator const Json&() const { return *value_; }
  /// Returns the member of this name, added with the value null if there is none.
  Json& operator[](const std::string& name);

  bool operator==(const OwnedJson& other) const { return *this == *other; }
  bool operator==(const Json& other) const;

 private:
  struct Copied {
    const Json* value;
  };
  explicit OwnedJson(Copied from);

  std::unique_ptr<Json> value_;
};

}  // namespace hios
