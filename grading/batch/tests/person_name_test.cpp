#include "common/testing/plain_test.h"
#include "grading/batch/download_name.h"

namespace lab::grading {
namespace {

TEST_CASE("composed and decomposed letters are the same, and upper and lower case of any alphabet") {
  CHECK(folded("M\xC3\x9CLLER") == folded("mu\xCC\x88ller"));
  CHECK(folded("\xCE\xA3\xCE\x8F\xCE\x9A\xCE\xA1\xCE\x91\xCE\xA4\xCE\x97\xCE\xA3") ==
        folded("\xCF\x83\xCF\x8E\xCE\xBA\xCF\x81\xCE\xB1\xCF\x84\xCE\xB7\xCF\x82"));  // a final sigma
  CHECK(folded("\xC2\xA0 S1\t") == "s1");                                             // a blank that does not break
  CHECK(folded("\xFF") == "\xFF");                                                    // not UTF-8
  CHECK(folded("") == "");
  CHECK(folded("Jose") != folded("Jos\xC3\xA9"));
  CHECK(keep_letters("SIS User ID") == keep_letters("sis_user-id"));
}

TEST_CASE("one name, as platforms write it") {
  CHECK(is_same_name("Lovelace, Ada", "Ada  Lovelace"));
  CHECK(is_same_name("Lovelace, Ada King", "lovelaceadaking"));
  CHECK(is_same_name("Ada Lovelace", "lovelaceada"));
  CHECK(
      is_same_name("O\xE2\x80\x99"
                   "Brien, Anne-Marie",
                   "obrienannemarie"));
  CHECK(is_same_name("M\xC3\xBCller, J\xC3\xB6rg", "mu\xCC\x88llerjo\xCC\x88rg"));
  CHECK_FALSE(is_same_name("Ada Lovelace", "Lovelace"));
  CHECK_FALSE(is_same_name("Ada Lovelace", "adalovelac"));
  CHECK_FALSE(is_same_name("", ""));
  CHECK_FALSE(is_same_name("-", "-"));
  CHECK_FALSE(is_same_name("a b c d e f g h", "abcdefgh"));  // nobody tries all orders
}

}  // namespace
}  // namespace lab::grading
