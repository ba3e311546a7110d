#include "grading/batch/result_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "common/api/errors.h"

namespace lab::grading {
namespace {

constexpr int kFormat = 2;  ///< SQLite's user_version: of another format, the file is refused

/// Calls body, and turns what SQLite throws into one message.
template <typename Body>
auto guarded(const std::string& path, const Body& body) {
  try {
    return body();
  } catch (const SQLite::Exception& failure) {
    if (failure.getErrorCode() == SQLITE_BUSY)
      throw UsageError(
          fmt::format("{}: another grading is at work with these results; expected to be the only one", path));
    throw UsageError(fmt::format("{}: the stored results cannot be used: {}", path, failure.what()));
  }
}

StoredResult result_at(const SQLite::Statement& row, bool with_outcome) {
  const auto text = [&](int column) { return row.getColumn(column).getString(); };
  return {text(0), text(1), text(2), text(3), text(4), with_outcome ? text(5) : ""};
}

}  // namespace

ResultStore::ResultStore(const std::string& path) : path_(path) {
  guarded(path_, [&] {
    constexpr int kBusyMilliseconds = 2000;
    database_ =
        std::make_unique<SQLite::Database>(path_, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyMilliseconds);
    const int format = database_->execAndGet("PRAGMA user_version").getInt();
    if (format != 0 && format != kFormat)
      throw UsageError(
          fmt::format("{}: expected results in format {}, got {}: another version of this suite wrote it; "
                      "hint: grade into another folder with --out, or rm '{}' and grade all again",
                      path_, kFormat, format, path_));
    // Each commit is on the disk before it returns; a lock keeps a second grading out.
    database_->exec(
        "PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE;"
        "BEGIN IMMEDIATE;"
        "CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
        "CREATE TABLE IF NOT EXISTS result (who TEXT, lab TEXT, file TEXT NOT NULL, version TEXT NOT NULL,"
        "  judging TEXT NOT NULL, outcome TEXT NOT NULL, PRIMARY KEY (who, lab));");
    database_->exec(fmt::format("PRAGMA user_version = {}; COMMIT", kFormat));
  });
}

ResultStore::~ResultStore() = default;

std::optional<std::string> ResultStore::note(const std::string& name) const {
  return guarded(path_, [&]() -> std::optional<std::string> {
    SQLite::Statement query(*database_, "SELECT value FROM note WHERE name = ?");
    query.bind(1, name);
    if (!query.executeStep()) return std::nullopt;
    return query.getColumn(0).getString();
  });
}

void ResultStore::set_note(const std::string& name, const std::string& value) {
  guarded(path_, [&] {
    SQLite::Statement insert(*database_, "INSERT OR REPLACE INTO note VALUES (?, ?)");
    insert.bind(1, name);
    insert.bind(2, value);
    insert.exec();
  });
}

void ResultStore::keep(const std::vector<StoredResult>& of_one_hand_in) {
  guarded(path_, [&] {
    SQLite::Transaction transaction(*database_);
    for (const StoredResult& one : of_one_hand_in) {
      SQLite::Statement insert(*database_, "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?)");
      int column = 0;
      for (const std::string* text : {&one.who, &one.lab, &one.file, &one.version, &one.judging, &one.outcome})
        insert.bind(++column, *text);
      insert.exec();
    }
    transaction.commit();
  });
}

std::vector<StoredResult> ResultStore::all_without_outcomes() const {
  return guarded(path_, [&] {
    std::vector<StoredResult> all;
    SQLite::Statement query(*database_, "SELECT who, lab, file, version, judging FROM result ORDER BY who, lab");
    while (query.executeStep()) all.push_back(result_at(query, false));
    return all;
  });
}

std::optional<StoredResult> ResultStore::find(const std::string& who, const std::string& lab) const {
  return guarded(path_, [&]() -> std::optional<StoredResult> {
    SQLite::Statement query(*database_, "SELECT * FROM result WHERE who = ? AND lab = ?");
    query.bind(1, who);
    query.bind(2, lab);
    if (!query.executeStep()) return std::nullopt;
    return result_at(query, true);
  });
}

}  // namespace lab::grading
