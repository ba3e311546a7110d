#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>

namespace lab::vae {

/// Where parameters come from: a checkpoint, or a generator of random numbers.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  /// The parameter of this full name, such as "decoder.up.3.block.0.conv1.weight"; always of the shape asked for.
  virtual at::Tensor get(const std::string& name, at::IntArrayRef shape) = 0;
};

/// A place in the tree of parameter names: what a module is made from. A module asks for its own parameters and hands
/// its children the places below its own, so that the names are written once, where the structure is.
/// Call      the source must outlive it; modules keep the tensors, not the place
/// Source    candle's VarBuilder does the same
/// Example   Conv2d(weights / "conv_in", {16, 512}) asks the source for conv_in.weight and conv_in.bias
class Weights {
 public:
  /// `report`: what serial modules made from here call after each operation, and in the middle of long ones, so that
  /// whoever waits for them sees progress; may be empty.
  explicit Weights(WeightSource& source, std::string place = "", std::function<void()> report = {})
      : source_(source), place_(std::move(place)), report_(std::move(report)) {}

  /// Four dimensions come with channels last in memory: convolutions then need no copies of their own.
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
