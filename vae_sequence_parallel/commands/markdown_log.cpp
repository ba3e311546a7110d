#include "vae_sequence_parallel/commands/markdown_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

#include "common/base/files.h"
#include "common/base/text.h"

namespace lab::vae {
namespace {

/// The cells of each check, one per rank; checks in the order in which they were first printed.
struct CheckTable {
  std::vector<std::string> names;
  std::map<std::string, std::vector<std::string>> cells;

  std::string& cell(const std::string& name, int rank, int num_ranks) {
    if (cells.count(name) == 0) {
      names.push_back(name);
      cells[name].resize(static_cast<std::size_t>(num_ranks));
    }
    return cells[name][static_cast<std::size_t>(rank)];
  }
};

std::string make_title(const std::string& program) {
  return fmt::format("# {}: the log of a run\n\n", program);
}

/// The text without the page that starts with this title.
std::string without_page(const std::string& text, const std::string& title) {
  std::string kept;
  bool keeps = true;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("# ", 0) == 0) keeps = line != title;
    if (keeps) kept += line + "\n";
  }
  while (kept.size() > 1 && kept.compare(kept.size() - 2, 2, "\n\n") == 0) kept.pop_back();
  return kept;
}

struct Verdicts {
  int num_right = 0, num_wrong = 0, num_skipped = 0;
};

CheckTable render_table(const log::RunReport& report, Verdicts& verdicts) {
  CheckTable table;
  for (const log::RankReport& rank : report.ranks) {
    for (const log::PrintedLine& line : rank.lines) {
      if (const auto* judged = std::get_if<log::JudgedLine>(&line)) {
        const bool right = log::as_expected(*judged);
        ++(right ? verdicts.num_right : verdicts.num_wrong);
        table.cell(judged->line.prefix, rank.rank, report.num_ranks) =
            fmt::format("{} {:.1e}", judged->line.match ? "True" : "**False**", judged->line.max_diff);
      } else if (const auto* skipped = std::get_if<log::SkippedLine>(&line)) {
        ++verdicts.num_skipped;
        table.cell(skipped->prefix, rank.rank, report.num_ranks) = "skipped";
      }
    }
  }
  return table;
}

void add_messages(std::string& text, const log::RunReport& report) {
  text += "\n## What the ranks said\n\n```\n";
  for (const log::RankReport& rank : report.ranks) {
    for (const log::PrintedLine& line : rank.lines) {
      if (const auto* message = std::get_if<std::string>(&line)) text += *message + "\n";
      if (const auto* skipped = std::get_if<log::SkippedLine>(&line)) text += format(*skipped) + "\n";
    }
  }
  text += "```\n";
}

}  // namespace

std::string markdown_log(const log::RunReport& report) {
  Verdicts verdicts;
  const CheckTable table = render_table(report, verdicts);
  std::string text = make_title(report.program);
  text += fmt::format("{} ({}), seed {}, {:.1f} s. {} comparisons matched, {} did not, {} were skipped.\n",
                      counted(report.num_ranks, "rank"), report.world, report.seed, report.wall_seconds,
                      verdicts.num_right, verdicts.num_wrong, verdicts.num_skipped);
  if (!report.error.empty()) text += fmt::format("\nThe run failed: {}\n", report.error);
  text += "\n## Checks\n\nWhether the tensors match, and their largest difference.\n\n| check |";
  for (int rank = 0; rank < report.num_ranks; ++rank) text += fmt::format(" rank {} |", rank);
  text += "\n|---|";
  for (int rank = 0; rank < report.num_ranks; ++rank) text += "---|";
  text += "\n";
  for (const std::string& name : table.names) {
    text += fmt::format("| {} |", name);
    for (const std::string& cell : table.cells.at(name)) text += fmt::format(" {} |", cell);
    text += "\n";
  }
  add_messages(text, report);
  return text;
}

std::string action_page(const std::string& program, const std::string& message) {
  return make_title(program) + message + "\n";
}

void add_to_log(const std::string& out_dir, const std::string& page) {
  make_folder("--out", out_dir);
  const std::string path = out_dir + "/vae_log.md";
  std::ostringstream before;
  if (std::ifstream file(path); file) before << file.rdbuf();
  const std::string others = without_page(before.str(), page.substr(0, page.find('\n')));
  write_file_atomically(path, others.empty() ? page : others + "\n" + page);
}

}  // namespace lab::vae
