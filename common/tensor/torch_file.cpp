#include "common/tensor/torch_file.h"

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/atomic_file.h"
#include "common/report/errors.h"
#include "common/report/one_line.h"
#include "common/tensor/describe.h"
#include "common/tensor/mapped_file.h"
#include "common/tensor/torch_file_records.h"

namespace lab {
namespace {

constexpr uint64_t kMaxTensorBytes = 0xFFF0'0000;  // above 4 GiB a zip archive has another form

/// The size of the one storage among the records: LibTorch would believe whatever the pickle says of it.
uint64_t storage_bytes(const std::vector<TorchFileRecord>& records, const std::string& path) {
  uint64_t num_storages = 0, bytes = 0;
  for (const TorchFileRecord& record : records) {
    if (record.name.find("/data/") == std::string::npos) continue;
    ++num_storages;
    bytes = record.content.size();
  }
  if (num_storages != 1)
    refuse_torch_file(path, fmt::format("it holds {} storages, expected one tensor's", num_storages));
  return bytes;
}

c10::IValue unpickled(const MappedFile& file, const std::string& path) {
  const auto refuse = [&](const std::string& words) { refuse_torch_file(path, "LibTorch says: " + one_line(words)); };
  try {
    return torch::jit::pickle_load({file.data(), file.data() + file.size_bytes()});
  } catch (const c10::Error& error) {
    refuse(error.what_without_backtrace());
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  return {};
}

/// True if every element lies within the storage, and they are no more than it has: LibTorch checks neither, and would
/// read beyond the file, or allocate what a line of the pickle says.
bool fits_storage(const at::Tensor& tensor) {
  const auto num_stored = static_cast<int64_t>(tensor.storage().nbytes() / tensor.itemsize());
  if (tensor.numel() > num_stored || tensor.storage_offset() < 0) return false;
  if (tensor.numel() == 0) return true;
  int64_t last = tensor.storage_offset();
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const int64_t steps = tensor.size(dim) - 1, stride = tensor.stride(dim);
    if (stride < 0 || (steps > 0 && stride > (num_stored - 1) / steps)) return false;
    last += steps * stride;
    if (last >= num_stored) return false;
  }
  return last < num_stored;
}

}  // namespace

void save_torch_tensor(const std::string& path, const at::Tensor& tensor) {
  if (!tensor.defined()) throw ContractError(fmt::format("Cannot save an undefined tensor into '{}'.", path));
  if (tensor.nbytes() > kMaxTensorBytes)
    throw UsageError(fmt::format("cannot write '{}': {} bytes, expected less than 4 GiB", path, tensor.nbytes()));
  at::Tensor plain = tensor.detach().to(at::kCPU).contiguous();
  // A tensor is saved with all of its storage, also with what lies outside of it.
  if (plain.storage().nbytes() != plain.nbytes()) plain = plain.clone();
  const std::vector<char> bytes = torch::jit::pickle_save(plain);
  write_file_atomically(path, {bytes.data(), bytes.size()});
}

at::Tensor load_torch_tensor(const std::string& path) {
  const MappedFile file(path);
  const uint64_t bytes = storage_bytes(checked_torch_file_records({file.data(), file.size_bytes()}, path), path);
  const c10::IValue value = unpickled(file, path);
  if (!value.isTensor()) refuse_torch_file(path, fmt::format("it holds a {}, expected one tensor", value.tagKind()));
  const at::Tensor tensor = value.toTensor();
  if (!tensor.has_storage() || tensor.storage().nbytes() != bytes)
    refuse_torch_file(path, fmt::format("its tensor is {}, but {} bytes are stored", describe(tensor), bytes));
  if (!fits_storage(tensor))
    refuse_torch_file(path,
                      fmt::format("its tensor is {}, which does not lie within the {} bytes that are stored; hint: "
                                  "save tensor.contiguous()",
                                  describe(tensor), bytes));
  return tensor.detach();
}

}  // namespace lab
