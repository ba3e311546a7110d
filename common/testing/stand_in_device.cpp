#include "common/testing/stand_in_device.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The device type that LibTorch leaves to others, with each operation done by the CPU's.
namespace lab::testing {
namespace {

constexpr c10::DeviceType kType = c10::DeviceType::PrivateUse1;
constexpr c10::DispatchKey kKey = c10::DispatchKey::PrivateUse1;
constexpr int kNumDevices = 8;

/// Addresses of the device have a bit that makes the processor refuse them.
constexpr std::uintptr_t kDeviceBit = std::uintptr_t{1} << 62;

void* moved(const void* address) {
  return address == nullptr ? nullptr : reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) ^ kDeviceBit);
}

at::Tensor tensor_in(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like) {
  at::Tensor tensor =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  tensor.unsafeGetTensorImpl()->set_storage_offset(like.storage_offset());
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
  return tensor;
}

/// A tensor of the CPU with the same memory.
at::Tensor near(const at::Tensor& far) {
  c10::DataPtr data(moved(far.storage().data()), at::kCPU);
  return tensor_in(c10::Storage(c10::Storage::use_byte_size_t(), far.storage().nbytes(), std::move(data)),
                   c10::DispatchKey::CPU, far);
}

/// A tensor of the device with the memory of one of the CPU, which it keeps.
at::Tensor far(const at::Tensor& near, at::Device device) {
  auto* keeper = new at::Tensor(near);
  c10::DataPtr data(
      moved(near.storage().data()), keeper, [](void* kept) { delete static_cast<at::Tensor*>(kept); }, device);
  return tensor_in(c10::Storage(c10::Storage::use_byte_size_t(), near.storage().nbytes(), std::move(data)), kKey, near);
}

/// One operation's tensors, on their way to the CPU and back.
class Crossing {
 public:
  explicit Crossing(const std::string& operation) : operation_(operation) {}

  void to_cpu(c10::IValue& value) {
    if (value.isTensor()) {
      value = to_cpu(value.toTensor(), false);
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(to_cpu(tensor, false));
      value = list;
    } else if (value.isOptionalTensorList()) {  // indices, which may be on the CPU
      c10::List<c10::optional<at::Tensor>> list;
      for (const c10::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
        list.push_back(tensor ? c10::optional<at::Tensor>(to_cpu(*tensor, true)) : tensor);
      value = list;
    } else if (value.isDevice()) {
      device_ = device_ ? device_ : value.toDevice();
      value = at::Device(at::kCPU);
    }
  }

  void to_device(c10::IValue& value) const {
    if (value.isTensor()) {
      value = to_device(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(to_device(tensor));
      value = list;
    }
  }

  void require_one_device() const {
    TORCH_CHECK(!device_ || !on_cpu_, "Expected all tensors to be on the same device, but found at least two devices, ",
                *device_, " and cpu, in ", operation_);
  }

  /// What an operation in place did to the shapes of its arguments.
  void update() const {
    for (const Pair& pair : pairs_) {
      if (pair.near.sizes() == pair.far.sizes() && pair.near.strides() == pair.far.strides() &&
          pair.near.storage_offset() == pair.far.storage_offset())
        continue;
      TORCH_CHECK(pair.near.storage().nbytes() == pair.far.storage().nbytes(), operation_,
                  " enlarges a tensor, which the stand-in for a GPU does not know");
      pair.far.unsafeGetTensorImpl()->set_storage_offset(pair.near.storage_offset());
      pair.far.unsafeGetTensorImpl()->set_sizes_and_strides(pair.near.sizes(), pair.near.strides());
    }
  }

 private:
  struct Pair {
    at::Tensor far, near;
  };

  at::Tensor to_cpu(const at::Tensor& tensor, bool may_mix) {
    if (!tensor.defined()) return tensor;
    if (tensor.device().type() != kType) {
      on_cpu_ = on_cpu_ || (tensor.dim() > 0 && !may_mix);
      return tensor;
    }
    device_ = tensor.device();
    for (const Pair& pair : pairs_) {
      if (pair.far.is_same(tensor)) return pair.near;
    }
    pairs_.push_back({tensor, near(tensor)});
    return pairs_.back().near;
  }

  at::Tensor to_device(const at::Tensor& result) const {
    if (!result.defined() || !device_) return result;
    for (const Pair& pair : pairs_) {
      if (result.is_same(pair.near)) return pair.far;
    }
    for (const Pair& pair : pairs_) {  // a view
      if (result.storage().data() != nullptr && result.storage().data() == pair.near.storage().data())
        return tensor_in(pair.far.storage(), kKey, result);
    }
    return far(result, *device_);
  }

  const std::string operation_;
  std::vector<Pair> pairs_;
  std::optional<at::Device> device_;
  bool on_cpu_ = false;
};

/// LibTorch's convolutions for devices that are not its own have another name, and no gradient of the bias.
c10::OperatorHandle operation_of_cpu(const c10::OperatorHandle& operation, torch::jit::Stack& stack) {
  const auto find = [](const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); };
  const std::string& name = operation.schema().name();
  if (name == "aten::convolution_overrideable") return find("aten::convolution");
  if (name != "aten::convolution_backward_overrideable") return operation;
  const std::size_t num_arguments = operation.schema().arguments().size();
  constexpr std::size_t kBeforeBiasSizes = 3;
  const std::int64_t num_outputs = stack[stack.size() - num_arguments].toTensor().size(1);
  stack.insert(stack.end() - static_cast<std::ptrdiff_t>(num_arguments - kBeforeBiasSizes),
               std::vector<std::int64_t>{num_outputs});
  return find("aten::convolution_backward");
}

void on_cpu(const c10::OperatorHandle& operation, torch::jit::Stack* stack) {
  Crossing crossing(operation.schema().name());
  const c10::OperatorHandle of_cpu = operation_of_cpu(operation, *stack);
  const auto num_arguments = static_cast<std::ptrdiff_t>(of_cpu.schema().arguments().size());
  for (auto value = stack->end() - num_arguments; value != stack->end(); ++value) crossing.to_cpu(*value);
  crossing.require_one_device();
  of_cpu.callBoxed(*stack);
  crossing.update();
  const auto num_results = static_cast<std::ptrdiff_t>(operation.schema().returns().size());
  for (auto value = stack->end() - num_results; value != stack->end(); ++value) crossing.to_device(*value);
}

at::Tensor copy_from(const at::Tensor& from, const at::Tensor& to, bool) {
  const auto on_cpu = [](const at::Tensor& tensor) { return tensor.device().type() == kType ? near(tensor) : tensor; };
  on_cpu(to).copy_(on_cpu(from));
  return to;
}

struct Guard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device) const override { return getDevice(); }
  c10::Device getDevice() const override { return {kType, 0}; }
  void setDevice(c10::Device) const override {}
  void uncheckedSetDevice(c10::Device) const noexcept override {}
  c10::Stream getStream(c10::Device device) const noexcept override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream exchangeStream(c10::Stream stream) const noexcept override { return stream; }
  c10::DeviceIndex deviceCount() const noexcept override { return kNumDevices; }
};

TORCH_LIBRARY_IMPL(_, PrivateUse1, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  library.impl("_copy_from", copy_from);
  // The first would be computed by its variant with an output, which warns that the output had another shape; the second,
  // in LibTorch 2.6, with a view that channels last do not have; the others would be refused.
  for (const char* name :
       {"mse_loss", "native_group_norm", "convolution_overrideable", "convolution_backward_overrideable"})
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

}  // namespace

at::Device stand_in_device(int rank) {
  static const c10::impl::DeviceGuardImplRegistrar registrar(kType, new Guard);
  return at::Device(kType, static_cast<at::DeviceIndex>(rank % kNumDevices));
}

}  // namespace lab::testing
