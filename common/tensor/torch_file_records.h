#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lab {

struct TorchFileRecord {
  std::string name;
  std::string_view content;
};

/// The records of a file of torch.save, a zip archive that compresses nothing, once they are known to be whole.
/// LibTorch itself reads damaged records without a word.
/// Aliasing  the contents lie in bytes
/// Errors    UsageError: no such archive; cut short; a wrong checksum. Path stands in the sentence
/// Source    https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
std::vector<TorchFileRecord> checked_torch_file_records(std::string_view bytes, const std::string& path);

/// Throws the UsageError with which every file that is none is refused.
[[noreturn]] void refuse_torch_file(const std::string& path, const std::string& reason);

}  // namespace lab
