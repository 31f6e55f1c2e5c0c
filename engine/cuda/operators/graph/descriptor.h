#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/device/handles.h"

/// Descriptors of cuDNN's backend API: objects with attributes, which are set one by one until
/// finalize() and can only be read from then on. One that is an attribute of another must outlive
/// it. All calls throw DeviceError. Main thread only.
namespace hios::cuda::graph {

/// The API's names for the types of attributes that we use.
template <cudnnBackendAttributeType_t type>
struct Called {
  static constexpr cudnnBackendAttributeType_t kType = type;
};
template <class Value>
struct Attribute;
template <>
struct Attribute<cudnnHandle_t> : Called<CUDNN_TYPE_HANDLE> {};
template <>
struct Attribute<cudnnDataType_t> : Called<CUDNN_TYPE_DATA_TYPE> {};
template <>
struct Attribute<bool> : Called<CUDNN_TYPE_BOOLEAN> {};
template <>
struct Attribute<std::int64_t> : Called<CUDNN_TYPE_INT64> {};
template <>
struct Attribute<float> : Called<CUDNN_TYPE_FLOAT> {};
template <>
struct Attribute<void*> : Called<CUDNN_TYPE_VOID_PTR> {};
template <>
struct Attribute<cudnnConvolutionMode_t> : Called<CUDNN_TYPE_CONVOLUTION_MODE> {};
template <>
struct Attribute<cudnnBackendHeurMode_t> : Called<CUDNN_TYPE_HEUR_MODE> {};
template <>
struct Attribute<cudnnBackendKnobType_t> : Called<CUDNN_TYPE_KNOB_TYPE> {};
template <>
struct Attribute<cudnnBackendNumericalNote_t> : Called<CUDNN_TYPE_NUMERICAL_NOTE> {};
template <>
struct Attribute<cudnnBackendBehaviorNote_t> : Called<CUDNN_TYPE_BEHAVIOR_NOTE> {};
template <>
struct Attribute<char> : Called<CUDNN_TYPE_CHAR> {};
template <>
struct Attribute<cudnnPointwiseMode_t> : Called<CUDNN_TYPE_POINTWISE_MODE> {};

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);

  template <class Value>
  Descriptor& set(cudnnBackendAttributeName_t name, const Value& value) {
    return set_raw(name, Attribute<Value>::kType, 1, &value);
  }
  template <class Value>
  Descriptor& set_all(cudnnBackendAttributeName_t name, std::span<const Value> values) {
    return set_raw(name, Attribute<Value>::kType, static_cast<std::int64_t>(values.size()),
                   values.data());
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value);
  Descriptor& set_all(cudnnBackendAttributeName_t name, std::span<const Descriptor> values);
  Descriptor& finalize();

  template <class Value>
  Value get(cudnnBackendAttributeName_t name) const {
    Value value{};
    get_raw(name, Attribute<Value>::kType, 1, &value);
    return value;
  }
  /// Returns the values of an attribute, at most `most`.
  template <class Value>
  std::vector<Value> get_all(cudnnBackendAttributeName_t name, std::int64_t most) const {
    std::vector<Value> values(static_cast<std::size_t>(most));
    values.resize(get_raw(name, Attribute<Value>::kType, most, values.data()));
    return values;
  }
  std::vector<Descriptor> get_descriptors(cudnnBackendAttributeName_t name,
                                          cudnnBackendDescriptorType_t type,
                                          std::int64_t most) const;
  /// Returns the number of values of an attribute.
  std::int64_t count(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type) const;

  cudnnBackendDescriptor_t get() const { return handle_.get(); }

 private:
  Descriptor& set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      std::int64_t count, const void* values);
  std::size_t get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                      std::int64_t most, void* values) const;

  Unique<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor> handle_;
};

}  // namespace hios::cuda::graph
