#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/reference/backend.h"

namespace hios::test {

/// A backend on the reference that is less exact for small images, unless it computes plainly.
class MethodicalBackend final : public Backend {
 public:
  /// `never`: part of a name; such operators are never exact.
  explicit MethodicalBackend(std::string never = "nothing") : never_(std::move(never)) {}
  static MethodicalBackend exact_in_blocks() {
    MethodicalBackend backend;
    backend.only_blocks_ = true;
    return backend;
  }
  std::size_t bound = 0;
  std::vector<std::int64_t> blocks;  ///< rows of the blocks that were asked for
  int cores = 1;
  /// Says for which values of an operator's first input, and on how many cores, it is less exact.
  std::function<bool(std::span<const float> input, int threads)> differs;

  std::string_view name() const override { return "methodical"; }
  std::string_view kind() const override { return "cpu"; }
  int threads() const override { return cores; }
  Json describe() const override { return {{"library", "methods 2.1"}}; }
  std::optional<std::string> unsupported(const Operation&) const override { return {}; }
  std::unique_ptr<Buffer> allocate(Bytes size_bytes, std::string_view what) override {
    return judge_->allocate(size_bytes, what);
  }
  Json algorithms(const Operation& operation, Choosing how) override {
    const bool plain = how == Choosing::kLikeParts && !only_blocks_;
    if (plain || how == Choosing::kByTiming || how == Choosing::kByTimingInParts) {
      methods_[operation.signature] = plain ? "plain" : "fast";
    }
    return {{operation.signature, methods_.value(operation.signature, "plain")}};
  }
  Json in_blocks_of_rows(const Operation& operation, std::int64_t rows) override {
    blocks.push_back(rows);
    methods_[operation.signature] = only_blocks_ ? "plain" : "fast";
    return {{operation.signature, methods_[operation.signature]}};
  }
  void adopt(const Json& algorithms) override { methods_.update(algorithms); }
  std::unique_ptr<BoundOperator> bind(const Operation& operation,
                                      std::span<const std::byte* const> inputs, std::byte* output,
                                      const CoreShare& share, TensorSource& source) override {
    ++bound;
    const std::int64_t height = operation.model->tensor(operation.layers->output).shape.h;
    const bool fast = methods_.value(operation.signature, "plain") == "fast";
    const bool never = operation.name.find(never_) != std::string::npos;
    const std::span input(
        reinterpret_cast<const float*>(inputs.front()),
        static_cast<std::size_t>(operation.layers->input_shapes.front().elements()));
    const auto inexact = [=, this, threads = share.threads] {
      return fast || never || (differs && differs(input, threads));
    };
    return std::make_unique<Inexact>(judge_->bind(operation, inputs, output, share, source),
                                     inexact, height, output);
  }
  void run_stage(std::span<const BoundGroup> groups, std::span<const CoreShare> shares,
                 void (*poll)(void*), void* poll_argument) override {
    judge_->run_stage(groups, shares, poll, poll_argument);
  }

 private:
  class Inexact final : public BoundOperator {
   public:
    Inexact(std::unique_ptr<BoundOperator> exact, std::function<bool()> inexact,
            std::int64_t height, std::byte* output)
        : exact_(std::move(exact)),
          inexact_(std::move(inexact)),
          height_(height),
          output_(output) {}
    void run() override {
      exact_->run();
      if (inexact_()) *output_ ^= static_cast<std::byte>(height_);
    }

   private:
    std::unique_ptr<BoundOperator> exact_;
    std::function<bool()> inexact_;
    std::int64_t height_;
    std::byte* output_;
  };

  std::string never_;
  bool only_blocks_ = false;
  Json methods_ = Json::object();
  std::unique_ptr<Backend> judge_ = reference::make_backend({});
};

}  // namespace hios::test
