#include "grading/similarity/lab_similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <tuple>
#include <utility>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"
#include "common/course/starter/starter_tree.h"
#include "common/launch/supervise/run_directory.h"
#include "grading/starter/derive_starter.h"

namespace lab::grading {
namespace {

// The time that sim_c++ takes grows with the square of what a file repeats, so each file is tried alone first.
constexpr char kCompare[] = R"(
compare() { sim_c++ -n -a -e -s -r 16 "$@"; }
for file in *.cpp; do (ulimit -t 5 && compare "$file" >/dev/null 2>&1) || { echo "$file is too costly"; rm "$file"; }; done
compare *.cpp)";
constexpr double kCompareSeconds = 600;

std::string without_blanks(std::string line) {
  const auto is_blank = [](unsigned char letter) { return std::isspace(letter) != 0; };
  line.erase(std::remove_if(line.begin(), line.end(), is_blank), line.end());
  return line;
}

/// `text`: what sim_c++ shall read. A line of it is empty if everybody was given it.
ComparedCode compared_code(const std::map<std::string, std::string>& sources, const std::set<std::string>& given,
                           std::string& text) {
  ComparedCode code;
  for (const auto& [name, source] : sources) {
    code.files[code.lines.size()] = name;
    std::string with_line_feeds = source;
    replace_all(with_line_feeds, "\r\n", "\n");
    replace_all(with_line_feeds, "\r", "\n");  // ends a line for clang++, but not for sim_c++
    std::vector<std::string> lines = list_lines(with_line_feeds);
    lines.emplace_back("/* */\n");  // or else a comment that does not end would hide the files below
    for (const std::string& line : lines) {
      text += given.count(without_blanks(line)) == 0 ? std::string(without_line_break(line)) + "\n" : "\n";
      code.lines.push_back(line);
    }
  }
  return code;
}

SandboxJob compare_job(const std::string& folder) {
  const char* path = std::getenv("PATH");
  const char* prefix = std::getenv("LAB_PREFIX");
  SandboxJob job;
  job.argv = {"env", fmt::format("PATH={}", path == nullptr ? "" : path), "bash", "-c", kCompare};
  job.folder = folder;
  if (prefix != nullptr && *prefix != 0) job.readable = {prefix};
  job.limits.run_seconds = job.limits.stall_seconds = job.limits.cpu_seconds = kCompareSeconds;
  job.limits.output_bytes = 256u << 20;
  return job;
}

LineRange lines_between(std::size_t first, std::size_t last, const ComparedCode& code) {
  const auto index = [&](std::size_t line) { return std::clamp<std::size_t>(line, 1, code.lines.size()) - 1; };
  return {index(first), std::max(index(first), index(last))};
}

/// What sim_c++ found, by hand-ins: [first, second] is what of the first is in the second.
std::map<std::pair<std::size_t, std::size_t>, std::vector<MatchingRun>> parse_runs(const std::string& printed,
                                                                                   LabSimilarity& similarity) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<MatchingRun>> runs;
  std::vector<ComparedCode>& codes = similarity.codes;
  for (const std::string& line : list_lines(printed)) {
    std::size_t first = 0, second = 0, tokens = 0;
    std::size_t at[4];
    if (std::sscanf(line.c_str(), "File %zu.cpp: %zu token", &first, &tokens) == 2 && first < codes.size()) {
      codes[first].num_tokens = tokens;
    } else if (std::sscanf(line.c_str(), "%zu.cpp: line %zu-%zu |%zu.cpp: line %zu-%zu [%zu]", &first, &at[0], &at[1],
                           &second, &at[2], &at[3], &tokens) == 7 &&
               std::max(first, second) < codes.size()) {
      runs[{first, second}].push_back(
          {lines_between(at[0], at[1], codes[first]), lines_between(at[2], at[3], codes[second]), tokens});
    } else if (line.find(" is too costly") != std::string::npos && std::sscanf(line.c_str(), "%zu", &first) == 1 &&
               first < codes.size()) {
      similarity.too_costly.insert(first);
    }
  }
  return runs;
}

std::size_t compute_sum(const std::vector<MatchingRun>& runs) {
  std::size_t sum = 0;
  for (const MatchingRun& run : runs) sum += run.num_tokens;
  return sum;
}

double compute_share(const std::vector<MatchingRun>& runs, const ComparedCode& code) {
  return code.num_tokens == 0 ? 0 : static_cast<double>(compute_sum(runs)) / static_cast<double>(code.num_tokens);
}

}  // namespace

std::map<std::string, std::set<std::string>> given_lines(const std::string& source) {
  const std::vector<std::string> labs = labs_of_source(source);
  std::map<std::string, std::set<std::string>> given;
  for (const auto& [path, file] : derive_starter(source, labs)) {
    const std::string type = std::filesystem::path(path).extension().string();
    if (type != ".cpp" && type != ".h") continue;
    const std::string folder = path.substr(0, path.find('/'));
    for (const std::string& lab : labs) {
      if (folder != lab && folder != "common") continue;
      for (const std::string& line : list_lines(file.bytes)) given[lab].insert(without_blanks(line));
    }
  }
  return given;
}

LabSimilarity compare_lab(const std::string& lab, const std::vector<StudentCode>& hand_ins,
                          const std::set<std::string>& given, const Sandbox& sandbox) {
  if (!is_in_path("sim_c++"))
    throw UsageError(
        "comparing hand-ins needs sim_c++; hint: apt-get install similarity-tester; Debian 13 takes Debian 12's "
        "package");
  LabSimilarity similarity;
  similarity.lab = lab;
  const launch::RunDirectory folder;
  for (const StudentCode& one : hand_ins) {
    std::string text;
    similarity.hand_ins.push_back(one.hand_in);
    similarity.codes.push_back(compared_code(one.sources, given, text));
    write_file_atomically(fmt::format("{}/{}.cpp", folder.path(), similarity.codes.size() - 1), text);
  }
  const SandboxResult result = sandbox.run(compare_job(folder.path()));
  if (result.end != SandboxResult::End::kExited || result.exit_code != 0)
    throw UsageError(fmt::format("{}: sim_c++ {}: {}", lab, result.ending(), one_line(safe_text(result.err, 500))));
  if (result.dropped_bytes > 0) throw UsageError(fmt::format("{}: sim_c++ printed more than 256 MiB", lab));

  auto runs = parse_runs(result.out, similarity);
  for (std::size_t second = 0; second < hand_ins.size(); ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      if (similarity.too_costly.count(first) + similarity.too_costly.count(second) > 0) continue;
      if (have_common_student(*similarity.hand_ins[first], *similarity.hand_ins[second])) continue;
      ++similarity.num_pairs;
      SimilarPair pair;
      pair.first = first;
      pair.second = second;
      const std::vector<MatchingRun>& back = runs[{second, first}];
      pair.runs = runs[{first, second}];
      pair.share_of_first = compute_share(pair.runs, similarity.codes[first]);
      pair.share_of_second = compute_share(back, similarity.codes[second]);
      pair.num_tokens = std::max(compute_sum(pair.runs), compute_sum(back));
      if (pair.num_tokens > 0) similarity.pairs.push_back(std::move(pair));
    }
  }
  std::sort(similarity.pairs.begin(), similarity.pairs.end(), [](const SimilarPair& a, const SimilarPair& b) {
    return std::make_tuple(-a.largest_share(), b.num_tokens, a.first, a.second) <
           std::make_tuple(-b.largest_share(), a.num_tokens, b.first, b.second);
  });
  return similarity;
}

}  // namespace lab::grading
