#include "engine/backend/certification.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/cuts/layer_range.h"
#include "hios/graph/cuts/whole_ranges.h"

namespace hios {
namespace {

constexpr std::uint64_t kCertificationSeed = 5;

/// The powers of two, from -k to k, by which values of very different sizes are scaled: so far that
/// sums of products lose low bits in any order but their own, and stay finite.
constexpr int kPowers = 12, kPowersOfHalves = 4;

using Values = std::vector<float>;

int powers_of(const Backend& backend) {
  return backend.precision() == Precision::kFp16 ? kPowersOfHalves : kPowers;
}

/// Returns values from -1 to 1; with `powers` > 0, of very different sizes, and some zeros of
/// either sign.
Values random_values(const Shape& shape, int powers, Random& random) {
  Values values(static_cast<std::size_t>(shape.elements()));
  for (float& value : values) {
    value = static_cast<float>(random.uniform(-1, 1));
    if (powers == 0) continue;
    const auto drawn = static_cast<int>(random.next() % static_cast<unsigned>(2 * powers + 2));
    value =
        drawn == 2 * powers + 1 ? std::copysign(0.0f, value) : std::ldexp(value, drawn - powers);
  }
  return values;
}

/// Seeded parameters; with `powers` > 0, of very different sizes. A parameter's own bits choose its
/// power, so that a shard's parameters, which are some of the whole's, have the same.
class CertifiedParameters final : public TensorSource {
 public:
  explicit CertifiedParameters(int powers)
      : seeded_(kCertificationSeed + static_cast<std::uint64_t>(powers)), powers_(powers) {}
  void weights(const Model& model, const Layer& layer, std::span<float> out) override {
    seeded_.weights(model, layer, out);
    scale(out);
  }
  void bias(const Model& model, const Layer& layer, std::span<float> out) override {
    seeded_.bias(model, layer, out);
    scale(out);
  }
  void input(const Model& model, std::span<float> out) override { seeded_.input(model, out); }

 private:
  void scale(std::span<float> values) const {
    if (powers_ == 0) return;
    for (float& value : values) {
      const std::uint32_t mixed = std::bit_cast<std::uint32_t>(value) * 0x9e3779b9u;
      const auto drawn = static_cast<int>((mixed >> 16) % static_cast<unsigned>(2 * powers_ + 1));
      value = std::ldexp(value, drawn - powers_);
    }
  }

  SeededSource seeded_;
  int powers_;
};

/// The inputs of an operation, one set after the other.
using Draws = std::vector<std::vector<Values>>;

bool have_equal_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Computes an operation alone, on a core share, once for each draw.
std::vector<Values> computed(Backend& backend, const Operation& operation, const Draws& draws,
                             const Shape& output, const CoreShare& share, TensorSource& source) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  const auto buffer = [&](std::size_t elements) {
    const Bytes size_bytes = elements * backend.element_bytes();
    return buffers.emplace_back(backend.allocate(size_bytes, "certifying " + operation.name))
        ->data();
  };
  std::vector<std::byte*> inputs;
  for (const Values& values : draws.front()) inputs.push_back(buffer(values.size()));
  const auto count = static_cast<std::size_t>(output.elements());
  std::byte* const made = buffer(count);
  const std::vector<const std::byte*> read(inputs.begin(), inputs.end());
  const auto bound = backend.bind(operation, read, made, share, source);
  const BoundGroup group{bound.get()};
  std::vector<Values> results;
  for (const std::vector<Values>& draw : draws) {
    for (std::size_t i = 0; i < draw.size(); ++i) write_floats(backend, inputs[i], draw[i]);
    fill(backend, made, count * backend.element_bytes(), std::byte{0xff});
    backend.run_stage(std::span(&group, 1), std::span(&share, 1), nullptr, nullptr);
    backend.synchronize();
    results.push_back(read_floats(backend, made, count));
  }
  return results;
}

}  // namespace

Certification::Certification(Backend& backend, const CoarseGraph& coarse, const Model& model,
                             int streams)
    : backend_(backend),
      coarse_(coarse),
      model_(model),
      cut_(cut_operators(coarse, model)),
      cores_(cores_of_groups(backend.threads(), streams)) {
  std::erase_if(cut_, [&](const CutOperator& cut) {
    if (backend.unsupported(whole(cut))) return true;
    return std::ranges::any_of(cut.shards, [&](const ShardOperator& each) {
      return backend.unsupported(operation_of(coarse, model, each.op)).has_value();
    });
  });
}

Operation Certification::whole(const CutOperator& cut) const {
  return {model_.whole(), &cut.whole, cut.name, signature_of(cut.whole, *model_.whole())};
}

Operation Certification::shard(const CutOperator& cut, std::size_t index) const {
  return operation_of(coarse_, model_, cut.shards[index].op);
}

bool Certification::certifies(const CutOperator& cut) {
  const auto [known, is_new] = known_.emplace(key_of(cut), false);
  if (is_new) known->second = computes_the_same(cut);
  return known->second;
}

std::string Certification::key_of(const CutOperator& cut) {
  const auto algorithms = [&](const Operation& operation) {
    return ' ' + backend_.algorithms(operation, Choosing::kByRule).dump() + '\n';
  };
  const Operation all = whole(cut);
  std::string key = all.signature + algorithms(all);
  for (std::size_t i = 0; i < cut.shards.size(); ++i) {
    const Operation part = shard(cut, i);
    key += part.signature + ' ' + to_string(cut.shards[i].range) + algorithms(part);
  }
  return key;
}

bool Certification::computes_the_same(const CutOperator& cut) {
  Random random(kCertificationSeed, whole(cut).signature);
  const auto draw = [&](int powers) {
    std::vector<Values> inputs;
    for (const Shape& shape : cut.whole.input_shapes) {
      inputs.push_back(random_values(shape, powers, random));
    }
    return inputs;
  };
  const int powers = powers_of(backend_);
  CertifiedParameters plain(0), scaled(powers);
  return computes_the_same(cut, {draw(0), draw(powers)}, plain) &&
         computes_the_same(cut, {draw(powers)}, scaled);
}

bool Certification::computes_the_same(const CutOperator& cut, const Draws& draws,
                                      TensorSource& source) {
  const auto on = [](int threads) { return core_shares(1, threads).front(); };
  const Shape& output = model_.whole()->tensor(cut.whole.output).shape;
  const std::vector<Values> expected =
      computed(backend_, whole(cut), draws, output, on(backend_.threads()), source);
  for (std::size_t i = 0; i < cut.shards.size(); ++i) {
    const ShardOperator& each = cut.shards[i];
    Draws read;
    std::vector<Values> wanted;
    for (std::size_t d = 0; d < draws.size(); ++d) {
      std::vector<Values>& inputs = read.emplace_back();
      for (std::size_t j = 0; j < draws[d].size(); ++j) {
        inputs.push_back(values_in(draws[d][j], cut.whole.input_shapes[j], each.inputs[j]));
      }
      wanted.push_back(values_in(expected[d], output, each.range));
    }
    const Shape& shape = model_.tensor(coarse_.layers(each.op).output).shape;
    for (const int cores : cores_) {
      const auto made = computed(backend_, shard(cut, i), read, shape, on(cores), source);
      if (!std::ranges::equal(made, wanted, have_equal_bits)) return false;
    }
  }
  return true;
}

std::vector<std::string> uncertified(Backend& backend, const CoarseGraph& coarse,
                                     const Model& model, int streams) {
  Certification certification(backend, coarse, model, streams);
  std::vector<std::string> names;
  for (const CutOperator& cut : certification.operators()) {
    if (!certification.certifies(cut)) names.push_back(cut.name);
  }
  return names;
}

}  // namespace hios
