#include "common/course/hand_in/identity.h"

#include "common/testing/get_message.h"
#include "common/testing/plain_test.h"
#include "common/testing/temporary_folder.h"

namespace lab {
namespace {

using testing::contains;
using testing::get_message;

TEST_CASE("an identity is kept, whatever characters it has") {
  const testing::TemporaryFolder folder;
  CHECK(load_identity(folder.file(".")).empty());
  save_identity(folder.file("."), {" Jos\xC3\xA9 \"Pepe\" \\ Garc\xC3\xAD"
                                   "a\n",
                                   "s1234567"});
  const Identity identity = load_identity(folder.file("."));
  CHECK(identity.name ==
        "Jos\xC3\xA9 \"Pepe\" \\ Garc\xC3\xAD"
        "a");
  CHECK(identity.id == "s1234567");
  CHECK(to_text(identity) ==
        "Jos\xC3\xA9 \"Pepe\" \\ Garc\xC3\xAD"
        "a (s1234567)");
  CHECK(to_text(Identity{"Ada", ""}) == "Ada");
  CHECK(to_text(Identity{"", "s1"}) == "s1");
}

TEST_CASE("an identity written by hand is read, and its mistakes are named") {
  const auto parsed = [](const std::string& toml) { return parse_identity(toml, "identity.toml"); };
  CHECK(parsed("id = \"s1\"\ngroup = 3\n").id == "s1");
  CHECK(parsed("name = \"" + std::string(1000, 'x') + "\"").name.size() < 200);
  CHECK(contains(get_message([&] { parsed("name = Ada"); }), "identity.toml:1"));
  CHECK(contains(get_message([&] { parsed("id = 1234567"); }), "id: expected a string, got 1234567"));
  CHECK(contains(get_message([&] { parsed(""); }), "got neither"));
}

TEST_CASE("a hand-in that is one markdown is signed at its end, once") {
  const std::string text = "# Answers\n";
  const std::string once = with_identity(text, {"Ada --> Lovelace", "s1"});
  const SignedMarkdown split = split_identity(once);
  CHECK(split.text == text);
  REQUIRE(split.identity);
  CHECK(parse_identity(*split.identity, "a5_answers.md").name == "Ada -> Lovelace");
  const std::string again = with_identity(once, {"Grace", ""});
  CHECK(split_identity(again).text == text);
  CHECK_FALSE(contains(again, "Ada"));
  CHECK_FALSE(split_identity(text).identity);
  CHECK(split_identity("# Answers\r\n<!-- identity.toml\r\nid = \"s1\"\r\n-->").identity);
  CHECK(split_identity("<!-- identity.toml\n").text == "<!-- identity.toml\n");
}

}  // namespace
}  // namespace lab
