#include "common/log/plain_log.h"

#include "common/base/text.h"
#include "common/log/check_log.h"
#include "common/log/tests/sample_log.h"
#include "common/testing/plain_test.h"

namespace lab::log {
namespace {

constexpr const char* kLine = "[Rank 0] done";

std::string plain(const std::string& bytes) {
  const std::optional<std::string> text = plain_log(bytes);
  return text ? *text : "not text";
}

/// The text in UTF-16, its bytes in this order, with a mark.
std::string utf16(const std::string& text, bool little) {
  std::string bytes = little ? "\xFF\xFE" : "\xFE\xFF";
  for (const char c : text) bytes += little ? std::string{c, '\0'} : std::string{'\0', c};
  return bytes;
}

TEST_CASE("plain log: a log as it was printed stays as it is") {
  CHECK(plain(testing::sample_log()) == testing::sample_log());
  for (const char* text : {"",
                           "\n",
                           "a",
                           "a\n\nb",
                           "[Rank 0] 12:34:56 later\n",
                           "[12][Rank 0] x\n",
                           "[a 1]: x\n",
                           "2 ranks: x\n",
                           "12:34 x\n",
                           "2025-01-31 x\n",
                           "2025-01-31\n",
                           "12:34:56\n",
                           "12:34:56.x\n",
                           "[ 0]: x\n",
                           "[default]: x\n",
                           "[0] x\n",
                           "[1,]: x\n",
                           "[a1][b2]: x\n",
                           "[a1][Rank 2] x\n",
                           "12:34:56+01 x\n",
                           "[7] Rank 0 initialized\n",
                           "[x] [Rank 0] y\n",
                           "[Rank 0] [1] x\n",
                           "x[Rank 0] y\n",
                           "x [Rank 0] y\n",
                           "node0: x\n",
                           "a | x\n",
                           "[a b] [Rank 0] x\n"}) {
    CAPTURE(text);
    CHECK(plain(text) == text);
  }
}

TEST_CASE("plain log: line ends, byte order marks and encodings") {
  const std::string log = testing::sample_log();
  std::string windows;
  for (const char c : log) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  CHECK(plain(windows) == log);
  CHECK(plain("\xEF\xBB\xBF" + windows) == log);
  for (const bool little : {true, false}) {
    CHECK(plain(utf16(windows, little)) == log);
    CHECK(plain(utf16(log, little)) == log);
    CHECK_FALSE(plain_log(utf16(log, little) + "x"));  // half a character
  }
  CHECK(plain("a\r\r\nb\r") == "a\nb");
  CHECK(plain("a\rb\n") == "a\rb\n");
  CHECK_FALSE(
      plain_log(std::string("\x7F"
                            "ELF\0\0\0\x01",
                            8)));
}

TEST_CASE("plain log: colours and other escape sequences") {
  for (const char* coloured :
       {"\x1B[32m[Rank 0] done\x1B[0m", "[Rank 0] \x1B[1;38;5;12mdo\x1B[mne", "\x1B[2K\x1B[1G[Rank 0] done",
        "\x1B]0;title\a[Rank 0] done", "\x1B]8;;http://x\x1B\\[Rank 0]\x1B]8;;\x1B\\ done", "\x1B(B[Rank 0] done",
        "\x1B=[Rank 0] done\x1B>", "\x1B[?25l[Rank 0] done\x1B[?25h"}) {
    CAPTURE(coloured);
    CHECK(plain(std::string(coloured) + "\n") == std::string(kLine) + "\n");
  }
  for (const char* cut_off : {"[Rank 0] \x1B\n", "\x1B[\n", "\x1B[12\n", "\x1B]x\n", "x\x1B"})
    CHECK(plain(cut_off) == cut_off);
}

TEST_CASE("plain log: time stamps and what launchers put in front of a line") {
  for (const char* before : {"2025-01-31T12:34:56.1234567Z ",
                             "2025-01-31 12:34:56,789 ",
                             "2025/01/31 12:34:56 ",
                             "12:34:56 ",
                             "12:34:56.789\t",
                             "[12:34:56] ",
                             "[12:34:56]",
                             "[2025-01-31 12:34:56.789] ",
                             "2025-01-31T12:34:56+01:00 ",
                             "2025-01-31T12:34:56-0800 ",
                             "Jan 31 12:34:56 ",
                             "Jan  1 12:34:56 ",
                             "[default0]:",
                             "[default12]: ",
                             "[a4_data_tensor3]:",
                             "[1,0]<stdout>:",
                             "[1,0]<stderr>: ",
                             "[1,0]: ",
                             "[0]:",
                             "0: ",
                             "12: ",
                             " 0: ",
                             "   0: ",
                             "Fri Nov 20 16:25:33 2026[1,0]<stdout>:",
                             "Fri Nov  6 16:25:33 2026<stdout>:",
                             "Fri Nov 20 16:25:33 2026 ",
                             "[Fri Nov 20 16:25:33 2026][1,2]<stdout>: ",
                             "[Fri Nov 20 16:25:33 2026]<stdout>: [1,1][node0:29725]<stdout>: ",
                             "[prterun-node0-26018@1,2]<stdout>: ",
                             "[0] ",
                             "[107] ",
                             "[pod/a4-0/main] ",
                             "rank0-1  | ",
                             "node0: ",
                             "2026-11-20T16:25:33.000000001Z stdout F ",
                             "Nov 20 16:25:33 node0 a4_data_tensor[100]: ",
                             "12:34:56 node0: [0] ",
                             "2025-01-31T12:34:56.1Z 12:34:56 [default0]:",
                             "\x1B[36m[default0]:\x1B[0m"}) {
    CAPTURE(before);
    CHECK(plain(before + std::string(kLine) + "\n") == std::string(kLine) + "\n");
  }
}

TEST_CASE("plain log: a label names no rank, and hides none") {
  const std::string log = testing::sample_log();
  std::string labelled, of_another_rank;
  for (const std::string& line : list_lines(log)) labelled += "[9] " + line;
  CHECK(check_log(plain(labelled), testing::sample_expectation()).empty());
  for (const std::string& line : list_lines(log)) {
    const bool is_moved = line == "[Rank 1] done\n";
    of_another_rank += is_moved ? "[1] [Rank 0] done\n" : line;
  }
  const std::vector<std::string> problems = check_log(plain(of_another_rank), testing::sample_expectation());
  REQUIRE(problems.size() == 2);
  CHECK(problems[1].find("rank 0: duplicated line") != std::string::npos);
  CHECK(problems[0].find("rank 1: missing before here") != std::string::npos);
}

TEST_CASE("plain log: a right log is right, and a wrong one wrong, however it was captured") {
  const std::string log = testing::sample_log();
  std::string captured = "\xEF\xBB\xBF", wrong;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = log.find('\n', at);
    captured += "2025-01-31T12:34:56.1234567Z \x1B[32m" + log.substr(at, end - at) + "\x1B[0m\r\n";
    at = end + 1;
  }
  CHECK(check_log(plain(captured), testing::sample_expectation()).empty());
  wrong = captured;
  wrong.replace(wrong.find("True"), 4, "False");
  CHECK(check_log(plain(wrong), testing::sample_expectation()).size() == 1);
}

}  // namespace
}  // namespace lab::log
