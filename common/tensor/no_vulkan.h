#pragma once

#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <cstddef>

namespace lab {

/// A LibTorch that was built with Vulkan, as Debian 13's, counts a Vulkan device whether there is one or not, and the
/// first backward() of a process starts a thread for it; after that, ranks that the process forks cannot use backward().
/// No lab uses Vulkan.
/// Call      before the first backward()
inline void no_vulkan() {
  c10::impl::device_guard_impl_registry[static_cast<std::size_t>(c10::DeviceType::Vulkan)].store(nullptr);
}

}  // namespace lab
