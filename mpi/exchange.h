#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hios/base/error.h"
#include "hios/base/ids.h"
#include "hios/base/json/json_io.h"
#include "hios/base/json/owned_json.h"
#include "mpi/transport.h"

/// Values exchanged between ranks: every rank's value on all ranks, or one rank's. A value arrives
/// as it was sent: every number, infinities and NaN included, and every byte of a text. These types
/// can be exchanged:
///  - numbers, bool, enumerations, ids, std::string, Json, OwnedJson;
///  - std::optional, std::vector, std::map, std::pair, std::tuple and std::variant of such, and a
///    struct derived from a std::variant; std::monostate;
///  - a struct of such that lists its members once:
///      static auto fields(auto& self) { return std::tie(self.name, self.cores); }
///  - any other type with to_json(Json&, const T&) and from_json(const Json&, T&) in its namespace.
/// Types are default-constructible. Both sides are the same program, so no names travel.
namespace hios::mpi {

/// A struct that lists its members.
template <class T>
concept WithFields = requires(T& value) {
  T::fields(value);
};

/// A std::variant, or a struct derived from one.
template <class T>
concept VariantLike = requires(const T& value) {
  []<class... Kind>(const std::variant<Kind...>&) {}(value);
};

namespace exchange {

template <class T>
inline constexpr bool kIsId = false;
template <class Tag>
inline constexpr bool kIsId<Id<Tag>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class Key, class Value>
inline constexpr bool kIsMap<std::map<Key, Value>> = true;
template <class T>
inline constexpr bool kIsTuple = false;
template <class... T>
inline constexpr bool kIsTuple<std::tuple<T...>> = true;
template <class A, class B>
inline constexpr bool kIsTuple<std::pair<A, B>> = true;

/// Converts a value to Json. Arrays are built element by element, since a braced list of Json may
/// turn into an object.
template <class T>
Json to_value(const T& value) {
  Json list = Json::array();
  const auto add_all = [&list](const auto&... each) { (list.push_back(to_value(each)), ...); };
  if constexpr (std::same_as<T, Json>) {
    return value;
  } else if constexpr (std::same_as<T, OwnedJson>) {
    return *value;
  } else if constexpr (WithFields<T>) {
    std::apply(add_all, T::fields(value));
  } else if constexpr (std::same_as<T, std::monostate>) {
    return list;
  } else if constexpr (VariantLike<T>) {
    add_all(value.index());
    std::visit(add_all, value);
  } else if constexpr (kIsId<T>) {
    list = value.index();
  } else if constexpr (kIsTuple<T>) {
    std::apply(add_all, value);
  } else if constexpr (kIsOptional<T>) {
    if (value) list.push_back(to_value(*value));
  } else if constexpr (kIsVector<T>) {
    for (const typename T::value_type& each : value) list.push_back(to_value(each));
  } else if constexpr (kIsMap<T>) {
    for (const auto& [key, each] : value) add_all(key, each);
  } else {
    list = value;
  }
  return list;
}

template <class T>
void from_value(const Json& json, T& value);

/// Emplaces the kind that was sent, by its index.
template <class... Kind>
void from_variant(const Json& json, std::variant<Kind...>& value) {
  const std::size_t index = json.at(0).get<std::size_t>();
  if (index >= sizeof...(Kind))
    throw RunError("a value from another rank arrived damaged: its kind is unknown");
  const auto take = [&]<std::size_t... kI>(std::index_sequence<kI...>) {
    ((kI == index ? from_value(json.at(1), value.template emplace<kI>()) : void()), ...);
  };
  take(std::index_sequence_for<Kind...>());
}

template <class T>
void from_value(const Json& json, T& value) {
  const auto take_all = [&json](auto&... each) {
    [[maybe_unused]] std::size_t next = 0;
    (from_value(json.at(next++), each), ...);
  };
  if constexpr (std::same_as<T, Json> || std::same_as<T, OwnedJson>) {
    value = json;
  } else if constexpr (WithFields<T>) {
    std::apply(take_all, T::fields(value));
  } else if constexpr (std::same_as<T, std::monostate>) {
    return;
  } else if constexpr (VariantLike<T>) {
    from_variant(json, value);
  } else if constexpr (kIsId<T>) {
    value = T(json.get<std::size_t>());
  } else if constexpr (kIsTuple<T>) {
    std::apply(take_all, value);
  } else if constexpr (kIsOptional<T>) {
    value.reset();
    if (!json.empty()) from_value(json.at(0), value.emplace());
  } else if constexpr (kIsVector<T>) {
    value.clear();
    value.reserve(json.size());
    for (const Json& each : json) {
      typename T::value_type element{};
      from_value(each, element);
      value.push_back(std::move(element));
    }
  } else if constexpr (kIsMap<T>) {
    value.clear();
    for (std::size_t i = 0; i + 1 < json.size(); i += 2) {
      typename T::key_type key{};
      from_value(json.at(i), key);
      from_value(json.at(i + 1), value[std::move(key)]);
    }
  } else {
    json.get_to(value);
  }
}

/// Encodes a value as CBOR, since JSON as text has neither infinities nor bytes that are no UTF-8.
template <class T>
std::string encode(const T& value) {
  std::string bytes;
  Json::to_cbor(to_value(value), bytes);
  return bytes;
}

/// Decodes a value. Throws RunError if these are not the bytes of a T.
template <class T>
T decode(const std::string& bytes) {
  try {
    T value{};
    from_value(Json::from_cbor(bytes), value);
    return value;
  } catch (const Json::exception& error) {
    throw RunError(std::string("a value from another rank arrived damaged: ") + error.what());
  }
}

}  // namespace exchange

/// Returns every rank's value, by rank, on every rank. Collective.
template <class T>
std::vector<T> gather(Transport& transport, const T& mine) {
  std::vector<T> all;
  for (const std::string& bytes : transport.all_gather(exchange::encode(mine))) {
    all.push_back(exchange::decode<T>(bytes));
  }
  return all;
}

/// Returns the value of `speaker` on every rank; the other ranks' `mine` is ignored. Collective.
/// REQUIRES: `speaker` is the same on all ranks.
template <class T>
T broadcast(Transport& transport, const T& mine, Rank speaker = Rank(0)) {
  const bool speaks = transport.rank() == speaker;
  const std::string bytes = speaks ? exchange::encode(mine) : std::string();
  return exchange::decode<T>(speaker == Rank(0) ? transport.broadcast(bytes)
                                                : transport.all_gather(bytes)[speaker.index()]);
}

}  // namespace hios::mpi
