#include "common/launch/outcome_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/base/failure.h"
#include "common/base/files.h"
#include "common/base/json.h"
#include "common/base/numbers.h"
#include "common/tensor/files/safetensors.h"

namespace lab::comm {

LAB_JSON_ROW(TraceEvent, rank, direction, peer, group, tag, sequence, bytes, operation, where, start_seconds,
             end_seconds, kind, round, label, arrived_seconds, model_start, model_end, model_arrived, model_posted,
             model_waited, model_period)

}  // namespace lab::comm

namespace lab::launch {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankFailure, exit_code, message, crashed_rank, task)

static void to_json(nlohmann::json& to, const RankOutcome& outcome) {
  to = {{"report", log::to_json(outcome.report)}, {"trace", outcome.trace}, {"exit_code", outcome.exit_code}};
  if (outcome.failure) to["failure"] = *outcome.failure;
}

static void from_json(const nlohmann::json& from, RankOutcome& outcome) {
  outcome.report = log::rank_report_from_json(from.at("report"));
  from.at("trace").get_to(outcome.trace);
  from.at("exit_code").get_to(outcome.exit_code);
  if (from.contains("failure")) outcome.failure = from["failure"].get<RankFailure>();
}

namespace {

constexpr const char* kOutcomeKey = "outcome";  // of the metadata
constexpr const char* kWhat = "the results of a rank's process";

/// Precedes each part of a file.
struct PartHeader {
  std::uint64_t bytes = 0;
  std::int32_t rank = 0, is_outcome = 0;
};

void append_part(int fd, int rank, bool is_outcome, std::string_view bytes) {
  const PartHeader header{bytes.size(), rank, is_outcome ? 1 : 0};
  int failure = write_fully(fd, {reinterpret_cast<const char*>(&header), sizeof(header)});
  if (failure == 0) failure = write_fully(fd, bytes);
  if (failure != 0)
    throw UsageError(
        fmt::format("cannot pass on a rank's results ({}): {}", describe_bytes(bytes.size()), std::strerror(failure)));
}

/// Reads `size` bytes at an offset; fewer if the file ends first.
std::string bytes_at(int fd, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  std::uint64_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::pread(fd, &bytes[filled], size - filled, static_cast<off_t>(offset + filled));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::uint64_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

}  // namespace

std::string bytes_of_outcome(const RankOutcome& outcome) {
  return to_safetensors(outcome.tensors, {{kOutcomeKey, json_text(outcome)}});
}

RankOutcome outcome_from_bytes(std::string_view bytes) {
  SafetensorsContent content = from_safetensors(bytes, kWhat, bytes.size());
  auto outcome = from_json_text<RankOutcome>(content.metadata[kOutcomeKey], kWhat);
  outcome.tensors = std::move(content.tensors);
  return outcome;
}

void keep_in_file(int fd, int rank, std::string_view bytes) {
  append_part(fd, rank, false, bytes);
}

void save_outcome(int fd, const RankOutcome& outcome) {
  for (const std::string& kept : outcome.kept) append_part(fd, outcome.report.rank, false, kept);
  append_part(fd, outcome.report.rank, true, bytes_of_outcome(outcome));
}

LeftInFile load_outcomes(int fd, std::uint64_t max_bytes) {
  LeftInFile left;
  struct stat status = {};
  if (::fstat(fd, &status) != 0) left.broken = fmt::format("it cannot be read: {}", std::strerror(errno));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t offset = 0;
  int number = 0;
  while (offset < size && left.broken.empty()) {
    ++number;
    const auto refuse = [&](const std::string& why) { left.broken = fmt::format("part {}: {}", number, why); };
    const std::string head = bytes_at(fd, offset, sizeof(PartHeader));
    PartHeader header;
    if (head.size() == sizeof(header)) std::memcpy(&header, head.data(), sizeof(header));
    const std::uint64_t begin = offset + sizeof(header);
    if (head.size() < sizeof(header) || header.bytes > size - begin) {
      refuse(fmt::format("it should have {} bytes, of which there are {}", header.bytes, size - std::min(begin, size)));
    } else if (begin > max_bytes || header.bytes > max_bytes - begin) {
      refuse(fmt::format("it ends beyond the {} bytes that are read", max_bytes));
    } else {
      LeftByRank& rank = left.ranks[header.rank];
      std::string bytes = bytes_at(fd, begin, header.bytes);
      try {
        if (header.is_outcome != 0) {
          rank.outcome = outcome_from_bytes(bytes);
        } else {
          rank.kept.push_back(std::move(bytes));
        }
      } catch (const std::exception& failure) {
        refuse(get_message(failure));
      }
      offset = begin + header.bytes;
    }
  }
  return left;
}

RankOutcome lost_outcome(int rank, const RankFailure& failure) {
  RankOutcome lost;
  lost.report.rank = rank;
  lost.report.error = failure.message;
  lost.failure = failure;
  return lost;
}

}  // namespace lab::launch
