#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "engine/backend/backend.h"
#include "engine/backend/fusion.h"

namespace hios {

/// An operation that no other form covers: its parts run one after the other, each by the operator
/// that would run it alone, with buffers between them. The base of backends' classes, which own the
/// buffers.
class LayeredOperator : public BoundOperator {
 public:
  void run() final;

 protected:
  /// Returns memory for a tensor of this shape, which must stay while the operator lives.
  using MakeBuffer = std::function<std::byte*(const Shape& shape)>;
  using BindPart = std::function<std::unique_ptr<BoundOperator>(
      const Operation& part, const BoundInputs& inputs, std::byte* output)>;
  /// Binds all parts: the last writes to `output`, the others to buffers. The arguments of
  /// `bind_part` are valid during the call only.
  void bind_parts(const Operation& operation, const BoundInputs& inputs, std::byte* output,
                  const MakeBuffer& make_buffer, const BindPart& bind_part);

 private:
  std::vector<std::unique_ptr<BoundOperator>> parts_;
};

}  // namespace hios
