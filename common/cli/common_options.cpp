#include "common/cli/common_options.h"

#include "common/base/option_value.h"
#include "common/cli/app.h"

namespace lab::cli {

CommonOptions& App::add_common_options(const CommonOptions& defaults) {
  CommonOptions& common = own(defaults);
  common_ = &common;
  add_integer("--nproc", common.num_ranks, {1, 4096}, "Ranks to run");
  add_choice("--world", common.world, {"processes", "threads", "sim"}, "What a rank is");
  add_transport(common.transport,
                "How processes exchange bytes: over Gloo, through shared memory, or through that within each host");
  add_choice("--device", common.device, {"cpu", "cuda"}, "Where tensors live");
  add_seed("--seed", common.seed, "Seed of all data");
  add_timeout(common.timeout_seconds);
  add_text("--save", common.save_dir, "DIR", "Save what was compared as DIR/rank<r>.safetensors");
  add_text("--trace", common.trace_file, "FILE", "Write every message: .json (Perfetto), .csv, .png, .pdf or .svg");
  add_text("--out", common.out_dir, "DIR", "Folder of plots and other results");
  add_text("--json", common.json_file, "FILE", "Write a report of the run as JSON, for ./lab view");
  add_text("--log-dir", common.log_dir, "DIR", "Write each rank's output to its own file");
  add_flag("--quiet", common.quiet, "Print match lines only");
  add_integer("--repeat", common.repeat, {1, 1'000'000}, "Runs of the lab in one world");
  add_integer("--debug-rank", common.debug_rank, {0, 4095}, "Start this rank under gdb");
  return common;
}

void App::add_transport(std::string& value, const std::string& help) {
  add_choice("--transport", value, {"gloo", "shm", "auto"}, help);
}

void App::finish_common_options() const {
  if (common_ == nullptr) return;
  CommonOptions& common = *common_;
  common.num_ranks_given = given("--nproc");
  // Without --nproc a launcher may have set another world size: the rank is checked where that is known.
  if (common.num_ranks_given && common.debug_rank >= common.num_ranks) {
    option::throw_wrong_value("--debug-rank", {"a rank from 0 to " + std::to_string(common.num_ranks - 1), "0"},
                              std::to_string(common.debug_rank));
  }
}

}  // namespace lab::cli
