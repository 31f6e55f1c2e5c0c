#include "hios/model/tensor.h"

namespace hios {

std::string Shape::to_string() const {
  return std::to_string(n) + 'x' + std::to_string(c) + 'x' + std::to_string(h) + 'x' +
         std::to_string(w);
}

}  // namespace hios
