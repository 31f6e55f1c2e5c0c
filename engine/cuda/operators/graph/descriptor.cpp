#include "engine/cuda/operators/graph/descriptor.h"

#include <algorithm>

namespace hios::cuda::graph {
namespace {

constexpr const char* kDescribing = "describing a convolution as a graph";

std::vector<cudnnBackendDescriptor_t> handles_of(std::span<const Descriptor> descriptors) {
  std::vector<cudnnBackendDescriptor_t> handles;
  for (const Descriptor& descriptor : descriptors) handles.push_back(descriptor.get());
  return handles;
}

}  // namespace

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t handle = nullptr;
  HIOS_CUDA(cudnnBackendCreateDescriptor(type, &handle), kDescribing);
  handle_ = Unique<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor>(handle);
}

Descriptor& Descriptor::set(cudnnBackendAttributeName_t name, const Descriptor& value) {
  const cudnnBackendDescriptor_t handle = value.get();
  return set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &handle);
}

Descriptor& Descriptor::set_all(cudnnBackendAttributeName_t name,
                                std::span<const Descriptor> values) {
  const auto handles = handles_of(values);
  return set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(handles.size()),
                 handles.data());
}

Descriptor& Descriptor::finalize() {
  HIOS_CUDA(cudnnBackendFinalize(handle_.get()), kDescribing);
  return *this;
}

std::vector<Descriptor> Descriptor::get_descriptors(cudnnBackendAttributeName_t name,
                                                    cudnnBackendDescriptorType_t type,
                                                    std::int64_t most) const {
  // The API fills given descriptors.
  std::vector<Descriptor> descriptors;
  for (std::int64_t i = 0; i < most; ++i) descriptors.emplace_back(type);
  auto handles = handles_of(descriptors);
  const std::size_t found = get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, handles.data());
  descriptors.erase(descriptors.begin() + static_cast<std::ptrdiff_t>(found), descriptors.end());
  return descriptors;
}

std::int64_t Descriptor::count(cudnnBackendAttributeName_t name,
                               cudnnBackendAttributeType_t type) const {
  std::int64_t found = 0;
  HIOS_CUDA(cudnnBackendGetAttribute(handle_.get(), name, type, 0, &found, nullptr), kDescribing);
  return found;
}

Descriptor& Descriptor::set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                std::int64_t count, const void* values) {
  HIOS_CUDA(cudnnBackendSetAttribute(handle_.get(), name, type, count, values), kDescribing);
  return *this;
}

std::size_t Descriptor::get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                std::int64_t most, void* values) const {
  std::int64_t found = 0;
  HIOS_CUDA(cudnnBackendGetAttribute(handle_.get(), name, type, most, &found, values), kDescribing);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(found, 0, most));
}

}  // namespace hios::cuda::graph
