#include "engine/backend/certification.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"
#include "hios/base/numbers/random.h"
#include "hios/graph/cuts/layer_range.h"

namespace hios {
namespace {

constexpr std::uint64_t kCertificationSeed = 5;

using Values = std::vector<float>;

Values random_values(const Shape& shape, Random& random) {
  Values values(static_cast<std::size_t>(shape.elements()));
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  return values;
}

/// Returns the values of some rows or channels, NHWC.
Values values_in(const Values& whole, const Shape& shape, const AxisRange& range) {
  const std::int64_t unit = range.axis == Axis::kC ? 1 : shape.w * shape.c;
  const std::int64_t line = unit * whole_range(shape, range.axis).count();
  Values values;
  for (auto at = range.begin * unit; at < std::ssize(whole); at += line) {
    values.insert(values.end(), whole.begin() + at, whole.begin() + at + range.count() * unit);
  }
  return values;
}

/// Computes an operation alone, on all cores of the backend.
Values computed(Backend& backend, const Operation& operation, const std::vector<Values>& inputs,
                const Shape& output, TensorSource& source) {
  std::vector<std::unique_ptr<Buffer>> buffers;
  const auto buffer = [&](std::size_t elements) {
    const Bytes size_bytes = elements * backend.element_bytes();
    return buffers.emplace_back(backend.allocate(size_bytes, "certifying " + operation.name))
        ->data();
  };
  std::vector<const std::byte*> read;
  for (const Values& values : inputs) {
    std::byte* const to = buffer(values.size());
    write_floats(backend, to, values);
    read.push_back(to);
  }
  const auto count = static_cast<std::size_t>(output.elements());
  std::byte* const made = buffer(count);
  fill(backend, made, count * backend.element_bytes(), std::byte{0xff});
  const std::vector<CoreShare> shares = core_shares(1, backend.threads());
  const auto bound = backend.bind(operation, read, made, shares.front(), source);
  const BoundGroup group{bound.get()};
  backend.run_stage(std::span(&group, 1), shares, nullptr, nullptr);
  backend.synchronize();
  return read_floats(backend, made, count);
}

}  // namespace

Certification::Certification(Backend& backend, const CoarseGraph& coarse, const Model& model)
    : backend_(backend), coarse_(coarse), model_(model), cut_(cut_operators(coarse, model)) {
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
  const Operation all = whole(cut);
  const Shape& output = model_.whole()->tensor(cut.whole.output).shape;
  Random random(kCertificationSeed, all.signature);
  std::vector<Values> inputs;
  for (const Shape& shape : cut.whole.input_shapes) inputs.push_back(random_values(shape, random));
  SeededSource source(kCertificationSeed);
  const Values expected = computed(backend_, all, inputs, output, source);
  for (std::size_t i = 0; i < cut.shards.size(); ++i) {
    const ShardOperator& each = cut.shards[i];
    std::vector<Values> read;
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      read.push_back(values_in(inputs[j], cut.whole.input_shapes[j], each.inputs[j]));
    }
    const Shape& shape = model_.tensor(coarse_.layers(each.op).output).shape;
    const Values made = computed(backend_, shard(cut, i), read, shape, source);
    const Values wanted = values_in(expected, output, each.range);
    if (std::memcmp(made.data(), wanted.data(), made.size() * sizeof(float)) != 0) return false;
  }
  return true;
}

std::vector<std::string> uncertified(Backend& backend, const CoarseGraph& coarse,
                                     const Model& model) {
  Certification certification(backend, coarse, model);
  std::vector<std::string> names;
  for (const CutOperator& cut : certification.operators()) {
    if (!certification.certifies(cut)) names.push_back(cut.name);
  }
  return names;
}

}  // namespace hios
