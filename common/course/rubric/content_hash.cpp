#include "common/course/rubric/content_hash.h"

#include <sodium.h>

#include <array>

namespace lab {

std::string content_hash(std::string_view text) {
  std::array<unsigned char, crypto_generichash_BYTES> hash;
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                     nullptr, 0);
  std::string digits(2 * hash.size() + 1, '\0');
  sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
  digits.pop_back();
  return digits;
}

}  // namespace lab
