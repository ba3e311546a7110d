#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <vector>

// Tensors whose shape and contents a rank has sent, which untrusted code may have written. Internal to comm/relay.
namespace lab::comm {

/// The bytes of a tensor with this at::ScalarType and these sizes.
/// Errors    ContractError: there is no such tensor
std::uint64_t payload_bytes_of(int dtype, const std::vector<std::int64_t>& sizes);

/// The tensor that these bytes are.
/// Errors    as above; ContractError: the payload is not of its size
at::Tensor payload_tensor(int dtype, const std::vector<std::int64_t>& sizes, std::string payload);

}  // namespace lab::comm
