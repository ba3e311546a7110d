#include "common/comm/rendezvous/fingerprint.h"

#include "common/testing/plain_test.h"

using namespace lab;
using namespace lab::comm;

TEST_CASE("equal fingerprints differ in nothing") {
  const std::string text = to_text({{"program", "a4"}, {"--seed", "42"}, {"--out", ""}});
  CHECK(text == "program: a4\n--seed: 42\n--out: \n");
  CHECK(describe_differences({}).empty());
  CHECK(describe_differences({{0, text}, {1, text}, {7, text}}).empty());
}

TEST_CASE("each difference names what was expected, what came, and the ranks") {
  const std::string expected = to_text({{"--lr", "0.1"}, {"--seed", "42"}, {"program", "a4"}});
  CHECK(describe_differences({{0, expected},
                              {1, to_text({{"--lr", "0.1"}, {"--seed", "7"}, {"program", "a4"}})},
                              {2, expected},
                              {3, to_text({{"--lr", "0.1"}, {"--seed", "7"}, {"program", "a5"}})}}) ==
        "--seed: expected 42 as on rank 0, got 7 on ranks 1, 3; program: expected a4 as on rank 0, got a5 on rank 3");
  CHECK(describe_differences({{0, to_text({{"--lr", "0.1"}})}, {1, to_text({{"--json", ""}})}}) ==
        "--json: expected nothing as on rank 0, got \"\" on rank 1; --lr: expected 0.1 as on rank 0, got nothing on "
        "rank 1");
}

TEST_CASE("a long fingerprint is cut, and still tells two apart") {
  Fingerprint one, other;
  for (int i = 0; i < 1000; ++i) {
    one.emplace_back("option" + std::to_string(i), std::string(1000, 'x'));
    other.emplace_back("option" + std::to_string(i), std::string(1000, 'x') + (i == 999 ? "y" : "x"));
  }
  CHECK(to_text(one).size() < 9000);
  const std::string differences = describe_differences({{0, to_text(one)}, {1, to_text(other)}});
  CHECK_FALSE(differences.empty());
  CHECK(differences.size() < 9000);
}
