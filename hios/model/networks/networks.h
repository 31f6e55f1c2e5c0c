#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hios/model/model.h"

namespace hios::models {

/// A built-in network, for any batch and size.
struct Entry {
  std::string_view name;
  std::string_view description;
  std::int64_t default_size;  ///< height and width, in pixels
  Model (*build)(std::int64_t batch, std::int64_t height, std::int64_t width);
};

/// Returns all networks, in the order in which programs list them.
std::span<const Entry> all();
/// Returns the network of that name; nullptr: there is none.
const Entry* find(std::string_view name);

/// The networks, one source each: inception_v3.cpp, nasnet_large.cpp, squeezenet.cpp and
/// randwire_large.cpp. Each throws an InputError that names the layer where `height` x `width` is
/// too small.
Model inception_v3(std::int64_t batch, std::int64_t height, std::int64_t width);
Model nasnet_large(std::int64_t batch, std::int64_t height, std::int64_t width);
Model squeezenet(std::int64_t batch, std::int64_t height, std::int64_t width);
Model randwire_large(std::int64_t batch, std::int64_t height, std::int64_t width);

}  // namespace hios::models
