#pragma once

#include <locale.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace lab {

/// While it lives, names of files are UTF-8 for this thread, whatever the locale of the process is: libarchive
/// translates an archive's names into the locale's, and fails for names beyond ASCII in the locale "C".
class Utf8Names {
 public:
  Utf8Names() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {
    if (utf8_ != locale_t{}) before_ = uselocale(utf8_);
  }
  ~Utf8Names() {
    if (utf8_ == locale_t{}) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_ = {};
  locale_t before_ = {};
};

}  // namespace lab

struct archive;  // libarchive's
struct archive_entry;

namespace lab {

/// Why an archive cannot be read, in libarchive's words: "ZIP bad CRC: 0x1 should be 0x2".
struct ArchiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An archive's entries in turn; checksums are compared. Nothing is unpacked but what read() returns; of
/// what the archive claims, only a compression's dictionary is allocated.
/// Errors    ArchiveError: it is not an archive, or is broken
/// Source    libarchive; the only place that reads archives with it
class ArchiveReader {
 public:
  /// A file: zip, 7z, rar, tar with any compression, and what else libarchive reads by itself.
  explicit ArchiveReader(const std::string& path);
  /// A whole zip in memory, which must outlive the reader: its entries are those of its directory, at its end.
  struct Zip {
    std::string_view bytes;
  };
  explicit ArchiveReader(const Zip& zip);
  ArchiveReader(const ArchiveReader&) = delete;
  ArchiveReader& operator=(const ArchiveReader&) = delete;

  /// Goes to the next entry, at first the first. False: there is none.
  /// Errors    ArchiveError: it is encrypted
  bool next();

  enum class Kind { kFile, kFolder, kLink, kOther };
  Kind kind() const;
  /// In UTF-8, or else its bytes as they are.
  std::string path() const;
  /// As the archive claims.
  std::optional<std::uint64_t> size() const;
  /// The next bytes of a file's content; 0 at its end.
  std::size_t read(char* bytes, std::size_t max_bytes);

 private:
  void require(bool well) const;

  struct Free {
    void operator()(struct archive* reader) const;
  };

  const Utf8Names utf8_names_;
  const std::unique_ptr<struct archive, Free> reader_;  ///< freed, too, where a constructor throws
  struct archive_entry* entry_ = nullptr;
};

}  // namespace lab
