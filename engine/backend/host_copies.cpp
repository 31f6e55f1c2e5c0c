#include "engine/backend/host_copies.h"

#include <algorithm>

#include "hios/base/numbers/half.h"

namespace hios {

void fill(Backend& backend, std::byte* to, Bytes size_bytes, std::byte value) {
  constexpr Bytes kChunk = Bytes{4} << 20;
  const std::vector<std::byte> chunk(std::min(size_bytes, kChunk), value);
  for (Bytes done = 0; done < size_bytes; done += chunk.size()) {
    backend.write(to + done, chunk.data(), std::min<Bytes>(chunk.size(), size_bytes - done));
  }
}

void write_floats(Backend& backend, std::byte* to, const std::vector<float>& values) {
  if (backend.precision() != Precision::kFp16) {
    backend.write(to, values.data(), values.size() * sizeof(float));
    return;
  }
  const std::vector<Half> halves = to_halves(values);
  backend.write(to, halves.data(), halves.size() * sizeof(Half));
}

std::vector<float> read_floats(Backend& backend, const std::byte* from, std::size_t count) {
  std::vector<float> values(count);
  if (backend.precision() != Precision::kFp16) {
    backend.read(values.data(), from, count * sizeof(float));
    return values;
  }
  std::vector<Half> halves(count);
  backend.read(halves.data(), from, count * sizeof(Half));
  for (std::size_t i = 0; i < count; ++i) values[i] = to_float(halves[i]);
  return values;
}

}  // namespace hios
