#pragma once

#include <locale.h>

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
