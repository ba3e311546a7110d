#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>

namespace lab::vae {

/// A source of parameters: a checkpoint, or a random number generator.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  /// The parameter of this full name, such as "decoder.up.3.block.0.conv1.weight"; always with the requested shape.
  virtual at::Tensor get(const std::string& name, at::IntArrayRef shape) = 0;
};

/// A place in the tree of parameter names, from which a module is constructed. A module requests its own parameters and
/// passes its children the places below its own, so that each name is written once, next to the structure.
/// Call      the source must outlive it; modules keep the tensors, not the place
/// Source    candle's VarBuilder does the same
/// Example   Conv2d(weights / "conv_in", {16, 512}) asks the source for conv_in.weight and conv_in.bias
class Weights {
 public:
  /// `report`: called by serial modules constructed from here after each operation, and in the middle of long ones, to
  /// show progress to waiting ranks; may be empty.
  explicit Weights(WeightSource& source, std::string place = "", std::function<void()> report = {})
      : source_(source), place_(std::move(place)), report_(std::move(report)) {}

  /// Four-dimensional parameters have channels last in memory: convolutions then need no copies.
  at::Tensor get(const std::string& name, at::IntArrayRef shape) const {
    const at::Tensor tensor = source_.get(full(name), shape);
    return shape.size() == 4 ? tensor.contiguous(at::MemoryFormat::ChannelsLast) : tensor;
  }

  const std::function<void()>& report() const { return report_; }

  Weights operator/(const std::string& name) const { return Weights(source_, full(name), report_); }
  Weights operator/(std::int64_t index) const { return *this / std::to_string(index); }

 private:
  std::string full(const std::string& name) const { return place_.empty() ? name : place_ + "." + name; }

  WeightSource& source_;
  std::string place_;
  std::function<void()> report_;
};

}  // namespace lab::vae
