#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/api/errors.h"
#include "common/base/costs.h"
#include "common/log/printer.h"

// What `--json FILE` holds, as plain data and as JSON text.
namespace lab::log {

/// A piece of work that all ranks shared: what one rank used for it, and what one process uses that does all of it.
struct PartReport {
  std::string name;  ///< of a case, or what it is: "pipeline 1f1b"
  ResourceUse used;
  ResourceUse of_one_process;  ///< 0: unknown
};

/// One rank's part; also how a rank process passes its result to the launcher.
struct RankReport {
  int rank = 0;
  std::vector<PrintedLine> lines;
  std::string error;  ///< the message it failed with; empty when it returned
  std::vector<LedgerEntry> ledger;
  std::int64_t peak_tensor_bytes = 0;
  std::int64_t flops = 0;   ///< floating-point operations, without those of the built-in collectives
  ModelTime model_time_ps;  ///< since the rank last restarted it
  std::vector<PartReport> parts;
};

struct RunReport {
  std::string program;
  std::string version;
  std::string world;  ///< "processes", "threads" or "sim"
  int num_ranks = 0;
  std::uint64_t seed = 0;
  ExitCode exit_code = ExitCode::kAllMatch;
  std::string error;  ///< one message; empty on success
  double wall_seconds = 0.0;
  std::string model_rates;  ///< of the machine that model time is about
  std::vector<RankReport> ranks;
  std::string timeline;  ///< JSON by plot::to_json(); empty: not recorded
};

/// JSON text; figures that JSON lacks are the strings "nan", "inf" and "-inf". Doubles round-trip bit for bit.
std::string to_json(const RunReport& report);

/// A rank's part of it, and the reverse.
/// Errors    UsageError or an exception of nlohmann::json: a field that is missing or of the wrong kind
nlohmann::json to_json(const RankReport& report);
RankReport rank_report_from_json(const nlohmann::json& json);

}  // namespace lab::log
