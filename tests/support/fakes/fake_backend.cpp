#include "support/fakes/fake_backend.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "engine/backend/host_copies.h"
#include "engine/backend/operation.h"
#include "hios/base/digest.h"
#include "hios/base/numbers/half.h"

namespace hios::test {
namespace {

class FakeBuffer final : public Buffer {
 public:
  explicit FakeBuffer(Bytes size_bytes)
      : size_(size_bytes),
        data_(static_cast<std::byte*>(::operator new (size_bytes, std::align_val_t{64}))) {}
  ~FakeBuffer() override { ::operator delete (data_, std::align_val_t{64}); }
  std::byte* data() override { return data_; }
  Bytes size_bytes() const override { return size_; }

 private:
  Bytes size_;
  std::byte* data_;
};

void poison(std::span<std::byte> bytes) { std::ranges::fill(bytes, std::byte{0xff}); }

class FakeOperator final : public BoundOperator {
 public:
  FakeOperator(FakeBackend& owner, std::string name, std::vector<std::span<const std::byte>> inputs,
               std::span<std::byte> output, std::shared_ptr<const FakeParameters::Parts> parameters)
      : owner_(owner),
        name_(std::move(name)),
        inputs_(std::move(inputs)),
        output_(output),
        parameters_(std::move(parameters)) {
    for (std::size_t i = 0; parameters_ && i < parameters_->size(); ++i) {
      inputs_.emplace_back((*parameters_)[i].bytes);
    }
  }

  void poison_output() { poison(output_); }

  void run() override {
    if (owner_.on_run) owner_.on_run(name_);
    if (name_ == owner_.failing) throw std::runtime_error("the arithmetic of " + name_ + " failed");
    owner_.ran.push_back(name_);
    std::uint64_t seed = 0;
    for (const auto& input : inputs_) {
      for (const std::byte byte : input) {
        seed = (seed ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ull + 1;
      }
    }
    Random random(seed, name_);
    const Bytes element = owner_.element_bytes();
    for (std::size_t i = 0; i + element <= output_.size(); i += element) {
      const auto value = static_cast<float>(random.uniform(-1, 1));
      const Half half = to_half(value);
      std::memcpy(output_.data() + i,
                  element == sizeof half ? static_cast<const void*>(&half) : &value, element);
    }
  }

 private:
  FakeBackend& owner_;
  std::string name_;
  std::vector<std::span<const std::byte>> inputs_;  // and parameters
  std::span<std::byte> output_;
  std::shared_ptr<const FakeParameters::Parts> parameters_;
};

}  // namespace

void FakeBackend::poison_output(BoundOperator* op) {
  if (auto* fake = dynamic_cast<FakeOperator*>(op)) fake->poison_output();
}

void FakeBackend::poison_tensors() {
  for (const auto& tensors : tensors_) poison(tensors);
}

std::optional<std::string> FakeBackend::unsupported(const Operation& operation) const {
  if (operation.name == refused) return "the test refuses it";
  return std::nullopt;
}

std::unique_ptr<Buffer> FakeBackend::allocate(Bytes size_bytes, std::string_view what) {
  auto buffer = std::make_unique<FakeBuffer>(size_bytes);
  poison({buffer->data(), size_bytes});
  if (what.starts_with("the tensors")) tensors_.emplace_back(buffer->data(), size_bytes);
  return buffer;
}

std::unique_ptr<BoundOperator> FakeBackend::bind(const Operation& operation,
                                                 std::span<const std::byte* const> inputs,
                                                 std::byte* output, const CoreShare& share,
                                                 TensorSource& source) {
  const auto size = [&](TensorId tensor) {
    return operation.model->tensor(tensor).shape.size_bytes(element_bytes());
  };
  std::vector<std::span<const std::byte>> spans;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    spans.emplace_back(inputs[i], size(operation.layers->inputs[i]));
  }
  bound.emplace_back(operation.name, share);
  std::shared_ptr<const FakeParameters::Parts> parameters;
  if (with_parameters) {
    parameters = parameters_.get(
        operation, source,
        [this](Bytes bytes, bool in_place) { return allocate_parameters(bytes, in_place); },
        [&](std::byte* to, const std::byte* from, Bytes bytes) {
          source.in_host_memory() ? void(std::memcpy(to, from, bytes)) : write(to, from, bytes);
        });
  }
  return std::make_unique<FakeOperator>(
      *this, operation.name, std::move(spans),
      std::span<std::byte>(output, size(operation.layers->output)), std::move(parameters));
}

FakeParameters::Block FakeBackend::allocate_parameters(Bytes size_bytes, bool) {
  const std::shared_ptr<Buffer> buffer = allocate(size_bytes, "parameters");
  return {buffer, buffer->data()};
}

void FakeBackend::run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                            void (*poll)(void*), void* poll_argument) {
  if (groups.size() != shares.size()) throw std::logic_error("a core share for each group");
  if (groups.size() > 1) {
    for (const BoundGroup& group : groups) std::ranges::for_each(group, poison_output);
  }
  next_.assign(groups.size(), 0);
  std::size_t left = 0;
  for (const BoundGroup& group : groups) left += group.size();
  for (; left > 0; --left) {
    std::size_t g = random_.below(groups.size());
    while (next_[g] == groups[g].size()) g = (g + 1) % groups.size();
    BoundOperator* op = groups[g][next_[g]++];
    if (groups.size() == 1) poison_output(op);
    op->run();
    if (polls && g == 0 && poll != nullptr) poll(poll_argument);
  }
}

void FakeSource::weights(const Model&, const Layer&, std::span<float> out) {
  std::ranges::fill(out, 0.0f);
}
void FakeSource::bias(const Model&, const Layer&, std::span<float> out) {
  std::ranges::fill(out, 0.0f);
}
void FakeSource::input(const Model& model, std::span<float> out) { numbered_input(model, 0, out); }
void FakeSource::numbered_input(const Model&, std::size_t number, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(i + 1000 * number);
}

Precision arithmetic_of(const CoarseGraph& coarse) {
  return coarse.element_bytes == element_bytes(Precision::kFp32) ? Precision::kFp32
                                                                 : Precision::kFp16;
}

std::vector<float> as_floats(std::span<const std::byte> tensor, Precision precision) {
  FakeBackend host;
  host.arithmetic = precision;
  return read_floats(host, tensor.data(), tensor.size() / host.element_bytes());
}

std::vector<std::vector<std::byte>> evaluate_alone(const CoarseGraph& coarse, const Model& model,
                                                   Backend& backend, TensorSource& source) {
  const Shape& shape = model.tensor(model.input()).shape;
  const auto input = backend.allocate(coarse.size_bytes(shape), "the input alone");
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  source.input(model, values);
  write_floats(backend, input->data(), values);
  std::vector<std::unique_ptr<Buffer>> outputs(coarse.graph.size());
  std::vector<std::vector<std::byte>> results(coarse.graph.size());
  const std::vector<CoreShare> all_cores = core_shares(1, backend.threads());
  for (const OpId op : coarse.graph.topological()) {
    const Operator& described = coarse.graph.op(op);
    auto& output = outputs[op.index()];
    output = backend.allocate(described.memory_bytes, "an output alone");
    std::vector<const std::byte*> inputs;
    for (const TensorId tensor : coarse.layers(op).inputs) {
      const auto producer = coarse.producer(tensor);
      inputs.push_back(producer ? outputs[producer->index()]->data() : input->data());
    }
    const Operation operation = operation_of(coarse, model, op);
    const auto bound = backend.bind(operation, inputs, output->data(), all_cores.front(), source);
    const BoundGroup group{bound.get()};
    backend.run_stage({&group, 1}, all_cores, nullptr, nullptr);
    backend.synchronize();
    results[op.index()].resize(described.memory_bytes);
    backend.read(results[op.index()].data(), output->data(), described.memory_bytes);
  }
  return results;
}

}  // namespace hios::test
