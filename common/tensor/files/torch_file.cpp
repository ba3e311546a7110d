#include "common/tensor/files/torch_file.h"

#include <fmt/format.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "common/api/errors.h"
#include "common/api/shapes.h"
#include "common/base/archive_reader.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/tensor/files/mapped_file.h"

namespace lab {
namespace {

/// Throws the UsageError for a file that torch.save did not write.
void refuse_torch_file(const std::string& path, const std::string& reason) {
  throw UsageError(fmt::format("'{}' is not a usable file of torch.save: {}.", path, reason));
}

constexpr uint64_t kMaxTensorBytes = 0xFFF0'0000;  // above 4 GiB a zip archive has another format

/// What the pickle of Python's torch.save holds in the place of one tensor on the CPU, and how to save that; empty: it
/// may hold one. LibTorch itself speaks of opcodes and backends, or refuses a dict only if it has two entries.
/// Source    Python's pickletools
std::string found_instead(std::string_view pickle) {
  constexpr std::size_t kProtocol = 2;  // bytes of the first opcode
  if (pickle.size() <= kProtocol || pickle[0] != '\x80') return "";
  if (pickle[1] != 2)
    return fmt::format("it was saved with pickle protocol {}, expected 2; hint: leave pickle_protocol out",
                       static_cast<int>(pickle[1]));
  struct Kind {
    std::string_view start;
    const char* description;
  };
  constexpr std::array<Kind, 5> kKinds = {
      {{"}", "a dict, expected one tensor; hint: torch.save(x[\"key\"], path)"},
       {"]", "a list, expected one tensor; hint: torch.save(x[0], path)"},
       {"ccollections\nOrderedDict\n", "a state dict, expected one tensor; hint: torch.save(x[\"key\"], path)"},
       {"ctorch._utils\n_rebuild_parameter", "a Parameter, expected a plain tensor; hint: torch.save(x.data, path)"},
       {"cnumpy", "a NumPy array, expected a tensor; hint: torch.save(torch.from_numpy(x), path)"}}};
  for (const Kind& kind : kKinds) {
    if (pickle.substr(kProtocol, kind.start.size()) == kind.start) return fmt::format("it holds {}", kind.description);
  }
  for (const std::string_view device : {"cuda", "mps"}) {  // as a text: its length in four bytes before it
    const std::size_t place = pickle.find(std::string("\0\0\0", 3).append(device));
    if (place == pickle.npos) continue;
    const std::string_view name = pickle.substr(place + 3, static_cast<unsigned char>(pickle[place - 1]));
    return fmt::format("its tensor is one of the GPU ({}), expected one of the CPU; hint: torch.save(x.cpu(), path)",
                       one_line(name));
  }
  return "";
}

/// The size of the one storage in a file of torch.save, an uncompressed zip archive, after checking that all its records
/// are intact. LibTorch itself reads damaged records without an error, and would believe whatever size the pickle claims.
/// Errors    UsageError: not such an archive; truncated; a wrong checksum; anything but one tensor. The message contains
///           `path`
uint64_t storage_bytes(std::string_view bytes, const std::string& path) {
  constexpr std::string_view kZipStart = "PK\3\4";
  if (bytes.empty()) refuse_torch_file(path, "it is empty");
  if (bytes.substr(0, kZipStart.size()) != kZipStart)
    refuse_torch_file(path, "it is not the zip archive that torch.save writes since version 1.6");
  uint64_t num_storages = 0, num_stored = 0, num_bytes = 0;
  std::string pickle;
  std::array<char, 64 * 1024> block;
  try {
    for (ArchiveReader records(ArchiveReader::Zip{bytes}); records.next();) {
      const bool is_storage = records.path().find("/data/") != std::string::npos;
      const bool is_pickle = records.path().find("/data.pkl") != std::string::npos;
      num_storages += is_storage ? 1 : 0;
      while (const std::size_t num_read = records.read(block.data(), block.size())) {
        num_stored += is_storage ? num_read : 0;
        if (is_pickle) pickle.append(block.data(), num_read);
        num_bytes += num_read;
        if (num_bytes > bytes.size()) refuse_torch_file(path, "a record of it is compressed");
      }
    }
  } catch (const ArchiveError& error) {
    refuse_torch_file(path, fmt::format("it is damaged: {}; hint: copy it again", error.what()));
  }
  if (const std::string found = found_instead(pickle); !found.empty()) refuse_torch_file(path, found);
  if (num_storages != 1)
    refuse_torch_file(path, fmt::format("it holds {} storages, expected one tensor's", num_storages));
  return num_stored;
}

c10::IValue unpickled(const MappedFile& file, const std::string& path) {
  const auto refuse = [&](const std::string& reason) { refuse_torch_file(path, "LibTorch says: " + one_line(reason)); };
  try {
    return torch::jit::pickle_load({file.data(), file.data() + file.size_bytes()});
  } catch (const c10::Error& error) {
    refuse(error.what_without_backtrace());
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  return {};
}

/// True if every element lies within the storage, and there are no more than it holds: LibTorch checks neither, and
/// would read beyond the file, or allocate whatever the pickle claims.
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
  // A tensor is saved with its whole storage, including what lies outside the tensor.
  if (plain.storage().nbytes() != plain.nbytes()) plain = plain.clone();
  const std::vector<char> bytes = torch::jit::pickle_save(plain);
  write_file_atomically(path, {bytes.data(), bytes.size()});
}

at::Tensor load_torch_tensor(const std::string& path) {
  const MappedFile file(path);
  const uint64_t bytes = storage_bytes({file.data(), file.size_bytes()}, path);
  const c10::IValue value = unpickled(file, path);
  if (!value.isTensor()) refuse_torch_file(path, fmt::format("it holds a {}, expected one tensor", value.tagKind()));
  const at::Tensor& tensor = value.toTensor();
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
