#include "common/testing/archive_builder.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <functional>
#include <memory>

namespace lab::testing {
namespace {

/// Writes an entry that `fill` describes; its contents follow.
void write_entry(struct archive* writer, const std::string& name, const std::function<void(archive_entry*)>& fill) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_perm(entry.get(), 0644);
  fill(entry.get());
  archive_write_header(writer, entry.get());
}

}  // namespace

ArchiveBuilder::ArchiveBuilder(const std::string& path, Format format) : writer_(archive_write_new()) {
  switch (format) {
    case Format::kEncryptedZip: archive_write_set_passphrase(writer_, "secret"); [[fallthrough]];
    case Format::kZip: archive_write_set_format_zip(writer_); break;
    case Format::k7z: archive_write_set_format_7zip(writer_); break;
    case Format::kCpio: archive_write_set_format_cpio(writer_); break;
    case Format::kTarGz: archive_write_add_filter_gzip(writer_); break;
    case Format::kTarBz2: archive_write_add_filter_bzip2(writer_); break;
    case Format::kTarXz: archive_write_add_filter_xz(writer_); break;
    case Format::kTarZst: archive_write_add_filter_zstd(writer_); break;
    case Format::kTar: break;
  }
  const bool is_tar = format >= Format::kTar && format <= Format::kTarZst;
  if (is_tar) archive_write_set_format_gnutar(writer_);
  if (format == Format::kEncryptedZip) archive_write_set_options(writer_, "zip:encryption=traditional");
  archive_write_open_filename(writer_, path.c_str());
}

ArchiveBuilder::~ArchiveBuilder() {
  archive_write_close(writer_);
  archive_write_free(writer_);
}

ArchiveBuilder& ArchiveBuilder::file(const std::string& name, const std::string& bytes) {
  write_entry(writer_, name, [&](archive_entry* entry) {
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
  });
  archive_write_data(writer_, bytes.data(), bytes.size());
  return *this;
}

ArchiveBuilder& ArchiveBuilder::zeros(const std::string& name, std::uint64_t size) {
  // No size is declared: a zip bomb does not say that it is one.
  write_entry(writer_, name, [](archive_entry* entry) { archive_entry_set_filetype(entry, AE_IFREG); });
  const std::string block(1 << 20, '\0');
  for (std::uint64_t written = 0; written < size; written += block.size()) {
    archive_write_data(writer_, block.data(), std::min<std::uint64_t>(block.size(), size - written));
  }
  return *this;
}

ArchiveBuilder& ArchiveBuilder::symlink(const std::string& name, const std::string& target) {
  write_entry(writer_, name, [&](archive_entry* entry) {
    archive_entry_set_filetype(entry, AE_IFLNK);
    archive_entry_set_symlink(entry, target.c_str());
  });
  return *this;
}

ArchiveBuilder& ArchiveBuilder::hardlink(const std::string& name, const std::string& target) {
  write_entry(writer_, name, [&](archive_entry* entry) {
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_size(entry, 0);
    archive_entry_set_hardlink(entry, target.c_str());
  });
  return *this;
}

ArchiveBuilder& ArchiveBuilder::fifo(const std::string& name) {
  write_entry(writer_, name, [](archive_entry* entry) { archive_entry_set_filetype(entry, AE_IFIFO); });
  return *this;
}

ArchiveBuilder& ArchiveBuilder::device(const std::string& name) {
  write_entry(writer_, name, [](archive_entry* entry) {
    archive_entry_set_filetype(entry, AE_IFCHR);
    archive_entry_set_rdevmajor(entry, 1);
    archive_entry_set_rdevminor(entry, 5);
  });
  return *this;
}

ArchiveBuilder& ArchiveBuilder::folder(const std::string& name) {
  write_entry(writer_, name, [](archive_entry* entry) { archive_entry_set_filetype(entry, AE_IFDIR); });
  return *this;
}

}  // namespace lab::testing
