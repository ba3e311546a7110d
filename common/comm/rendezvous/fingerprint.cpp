#include "common/comm/rendezvous/fingerprint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "common/base/checksum.h"

namespace lab::comm {
namespace {

constexpr std::size_t kMaxValue = 200, kMaxText = 8000;  // well below kMaxArrivalBytes

std::string shortened(const std::string& text, std::size_t max_length) {
  if (text.size() <= max_length) return text;
  return fmt::format("{}... (checksum {:016x})", text.substr(0, max_length), compute_checksum(text));
}

std::map<std::string, std::string> list_entries(const std::string& text) {
  std::map<std::string, std::string> entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) entries[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return entries;
}

std::string value_in(const std::map<std::string, std::string>& entries, const std::string& name) {
  const auto entry = entries.find(name);
  return entry == entries.end() ? "nothing" : entry->second.empty() ? "\"\"" : entry->second;
}

}  // namespace

std::string to_text(const Fingerprint& fingerprint) {
  std::string text;
  for (const auto& [name, value] : fingerprint) {
    std::string line = value;
    for (char& letter : line) letter = letter == '\n' ? ' ' : letter;
    text += fmt::format("{}: {}\n", name, shortened(line, kMaxValue));
  }
  return shortened(text, kMaxText);
}

std::string describe_differences(const std::map<int, std::string>& texts) {
  if (texts.empty()) return "";
  const int expected_rank = texts.begin()->first;
  std::map<std::string, std::map<std::string, std::vector<int>>> ranks_by_name_and_value;
  for (const auto& [rank, text] : texts) {
    for (const auto& [name, value] : list_entries(text)) ranks_by_name_and_value[name];
  }
  for (const auto& [rank, text] : texts) {
    const auto entries = list_entries(text);
    for (auto& [name, ranks_by_value] : ranks_by_name_and_value)
      ranks_by_value[value_in(entries, name)].push_back(rank);
  }
  const auto expected = list_entries(texts.begin()->second);
  std::vector<std::string> differences;
  for (auto& [name, ranks_by_value] : ranks_by_name_and_value) {
    if (ranks_by_value.size() == 1) continue;
    const std::string expected_value = value_in(expected, name);
    std::vector<std::string> others;
    for (const auto& [value, ranks] : ranks_by_value) {
      if (value != expected_value) others.push_back(fmt::format("got {} on {}", value, describe_ranks(ranks)));
    }
    differences.push_back(
        fmt::format("{}: expected {} as on rank {}, {}", name, expected_value, expected_rank, fmt::join(others, ", ")));
  }
  return shortened(fmt::format("{}", fmt::join(differences, "; ")), kMaxText);
}

std::string describe_ranks(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace lab::comm
