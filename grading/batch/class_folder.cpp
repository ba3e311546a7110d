#include "grading/batch/class_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "common/api/errors.h"
#include "common/base/archive_reader.h"
#include "common/base/files.h"
#include "common/base/text.h"
#include "common/cli/app.h"
#include "common/course/hand_in/entry_path.h"
#include "grading/processes/own_processes.h"

namespace lab::grading {
namespace {

constexpr std::uint64_t kMaxUnpacked = 16ull << 30;
constexpr int kMaxEntries = 200'000;

}  // namespace

std::vector<std::string> unpack_download(const std::string& path, const std::string& folder) {
  std::vector<std::string> notes;
  std::uint64_t num_bytes = 0;
  int num_entries = 0;
  std::array<char, 64 * 1024> block;
  try {
    ArchiveReader archive(path);
    while (archive.next()) {
      if (++num_entries > kMaxEntries)
        throw UsageError(fmt::format("{}: expected at most {} entries, got more", path, kMaxEntries));
      if (archive.kind() == ArchiveReader::Kind::kFolder) continue;
      const EntryPath entry = clean_entry_path(archive.path());
      const bool is_file = archive.kind() == ArchiveReader::Kind::kFile;
      if (entry.path.empty() || !is_file) {
        if (!is_file || !entry.why_not.empty())
          notes.push_back(fmt::format("{}: {}: left out", printable_name(archive.path()),
                                      is_file ? entry.why_not : "it is not a regular file"));
        continue;
      }
      const std::filesystem::path target = std::filesystem::path(folder) / entry.path;
      if (std::filesystem::exists(target)) {
        notes.push_back(fmt::format("{}: another entry has the same name: left out", printable_name(archive.path())));
        continue;
      }
      make_folder(path, target.parent_path().string());
      AtomicFile file(target.string());
      while (const std::size_t size = archive.read(block.data(), block.size())) {
        num_bytes += size;
        if (num_bytes > kMaxUnpacked)
          throw UsageError(fmt::format("{}: expected at most {} GiB, got more", path, kMaxUnpacked >> 30));
        file.write({block.data(), size});
      }
      file.commit();
    }
  } catch (const ArchiveError& error) {
    throw UsageError(fmt::format("{}: expected an archive of submissions: {}", path, error.what()));
  }
  return notes;
}

namespace {

/// A message with the hand-in's name in place of where it happens to lie.
std::string without_place(std::string message, const HandIn& hand_in) {
  for (std::size_t at = 0; (at = message.find(hand_in.path, at)) != std::string::npos; at += hand_in.shown.size())
    message.replace(at, hand_in.path.size(), hand_in.shown);
  return message;
}

}  // namespace

void ClassSource::add_to(cli::App& app) {
  app.add_argument("FOLDER", folder, "submissions, or the archive of them that a learning platform makes");
  app.add_text("--lab", only_lab, "LAB", "only this lab, such as a9; also where submissions do not say which");
  app.add_text("--names", names, "PATTERN",
               "how files are named, if not as by Canvas, Moodle or Gradescope: '{id}_{any}_{file}'");
  app.add_text("--roster", roster, "FILE", "the course's students as CSV");
  app.add_text("--roster-id", roster_id, "COLUMN", "the roster's column that students are called by");
}

std::unique_ptr<Roster> ClassSource::read_roster() const {
  return roster.empty() ? nullptr : std::make_unique<Roster>(Roster::load(roster, roster_id));
}

ClassFolder::ClassFolder(ClassSource source, const std::string& out, std::vector<KnownLab> known, const Roster* roster)
    : source_(std::move(source)), known_(std::move(known)), hand_ins_(find(out, roster)) {}

HandIns ClassFolder::find(const std::string& out, const Roster* roster) {
  DownloadFolder in = {source_.folder, {}, roster, out};
  if (!source_.names.empty()) in.names = NamePattern(source_.names);
  std::error_code ignored;
  if (std::filesystem::is_directory(source_.folder, ignored)) return find_hand_ins(in);
  in.path = unpacked_.path();
  const std::vector<std::string> lost = unpack_download(source_.folder, in.path);
  HandIns found = find_hand_ins(in);
  found.lost = lost;
  return found;
}

Submission ClassFolder::read(const HandIn& hand_in) const {
  return read_submission({hand_in.path, hand_in.called}, known_, source_.only_lab);
}

std::optional<int> ClassFolder::describe_all(int jobs, const std::function<std::string(const Submission&)>& describe,
                                             std::vector<Described>& described) const {
  constexpr int kCannotBeRead = static_cast<int>(ExitCode::kUsage);
  described.assign(hand_ins_.found.size(), {});
  ForkedWork work;
  work.count = described.size();
  work.jobs = jobs;
  work.body = [&](std::size_t item) {
    try {
      fmt::print("{}", describe(read(hand_ins_.found[item])));
      return 0;
    } catch (const UsageError& error) {
      fmt::print("{}", without_place(error.what(), hand_ins_.found[item]));
      return kCannotBeRead;
    }
  };
  work.ended = [&](std::size_t item, const ForkedEnd& end) {
    if (end.exit_code == 0) {
      described[item].text = end.out;
    } else if (end.exit_code == kCannotBeRead && !end.out.empty()) {
      described[item].problem = end.out;
    } else {
      described[item].problem = fmt::format("could not be read: exit code {}: {}", end.exit_code,
                                            one_line(end.err.substr(0, end.err.find('\n'))));
    }
  };
  return run_forked(work);
}

void print_note(const std::string& note) {
  fmt::print("  {}\n", without_commands(safe_text(one_line(note), 1000)));
}

}  // namespace lab::grading
