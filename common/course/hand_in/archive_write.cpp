#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>

#include "common/base/errors.h"
#include "common/base/files.h"
#include "common/course/hand_in/archive.h"
#include "common/course/utf8_names.h"

namespace lab {
namespace {

struct FreeWriter {
  void operator()(struct archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
  void operator()(struct archive_entry* entry) const { archive_entry_free(entry); }
};

la_ssize_t append_bytes(struct archive*, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

}  // namespace

void write_zip(const std::string& path, const std::map<std::string, std::string>& files) {
  const Utf8Names utf8_names;
  std::string zip;
  const std::unique_ptr<struct archive, FreeWriter> writer(archive_write_new());
  const auto require = [&](la_ssize_t result) {
    if (result >= ARCHIVE_OK) return;
    const char* words = archive_error_string(writer.get());
    throw UsageError(fmt::format("cannot pack {}: {}", path, words == nullptr ? "libarchive refuses" : words));
  };
  require(archive_write_set_format_zip(writer.get()));
  require(archive_write_set_options(writer.get(), "hdrcharset=UTF-8"));
  require(archive_write_set_bytes_in_last_block(writer.get(), 1));  // no padding after the end
  require(archive_write_open(writer.get(), &zip, nullptr, append_bytes, nullptr));
  for (const auto& [name, bytes] : files) {
    const std::unique_ptr<struct archive_entry, FreeEntry> entry(archive_entry_new());
    // No time and no owner: the same files always give the same bytes.
    archive_entry_set_pathname_utf8(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    require(archive_write_header(writer.get(), entry.get()));
    require(archive_write_data(writer.get(), bytes.data(), bytes.size()));
  }
  require(archive_write_close(writer.get()));
  write_file_atomically(path, zip);
}

}  // namespace lab
