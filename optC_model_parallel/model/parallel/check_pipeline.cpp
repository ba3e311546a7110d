#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/api/errors.h"
#include "common/base/text.h"
#include "optC_model_parallel/model/parallel/parallel_strategies.h"
#include "optC_model_parallel/models.h"

namespace lab::optc {
namespace {

/// An option's value that must be one of a list.
void check_word(const char* option, const std::string& word, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), word) != words.end()) return;
  throw UsageError(fmt::format("{} {}: expected one of {} for a pipeline{}", option, word, fmt::join(words, ", "),
                               did_you_mean(word, words)));
}

int num_layers(const std::string& model) {
  return static_cast<int>(model_named(model).layers.size());
}

/// For a command with --model; otherwise names a command that could train it.
std::string deeper_model(int num_stages, bool has_model_option) {
  for (const std::string& other : pipeline_model_names()) {
    if (num_layers(other) < num_stages) continue;
    return fmt::format("{}--model {}{} has {} layers", has_model_option ? "" : "`pipeline ", other,
                       has_model_option ? "" : "`", num_layers(other));
  }
  return "fewer ranks or chunks";
}

void check_layers(const std::string& model, int num_ranks, int num_chunks, bool has_model_option) {
  const int num_stages = num_ranks * num_chunks, layers = num_layers(model);
  if (num_stages <= layers) return;
  throw UsageError(
      fmt::format("{}model {}: expected at least one layer for each of the {} stages ({} ranks with {} "
                  "chunks each), got {} layers; hint: {}",
                  has_model_option ? "--" : "", model, num_stages, num_ranks, num_chunks, layers,
                  deeper_model(num_stages, has_model_option)));
}

void check_micro_batches(const PipelineOptions& pipeline, int num_ranks) {
  const std::int64_t m = pipeline.num_micro_batches;
  if (m < 1) throw UsageError(fmt::format("--micro-batches {}: expected at least 1", m));
  if (pipeline.schedule == "interleaved" && m % num_ranks != 0)
    throw UsageError(
        fmt::format("--micro-batches {}: interleaved expects a multiple of {}, the number of ranks; hint: "
                    "--micro-batches {}",
                    m, num_ranks, (m / num_ranks + 1) * num_ranks));
  if (pipeline.schedule == "pipedream-2bw" && m < num_ranks)
    throw UsageError(
        fmt::format("--micro-batches {}: pipedream-2bw expects at least {}, the number of ranks: fewer "
                    "need more than two versions of the weights; hint: --micro-batches {}",
                    m, num_ranks, num_ranks));
}

}  // namespace

const std::vector<std::string>& schedule_names() {
  static const std::vector<std::string> names = {"gpipe",     "1f1b",           "interleaved",
                                                 "pipedream", "pipedream-sync", "pipedream-2bw"};
  return names;
}

bool is_asynchronous(const std::string& schedule) {
  return schedule == "pipedream" || schedule == "pipedream-sync" || schedule == "pipedream-2bw";
}

void check_pipeline(const TrainingOptions& options, const PipelineOptions& pipeline, int num_ranks,
                    bool has_model_option) {
  check_word("--model", options.model, pipeline_model_names());
  check_word("--schedule", pipeline.schedule, schedule_names());
  if (pipeline.num_chunks < 1) throw UsageError(fmt::format("--chunks {}: expected at least 1", pipeline.num_chunks));
  if (pipeline.num_chunks > 1 && pipeline.schedule != "interleaved")
    throw UsageError(fmt::format("--chunks {}: expected 1 with {}; hint: only interleaved has more",
                                 pipeline.num_chunks, pipeline.schedule));
  check_layers(options.model, num_ranks, pipeline.num_chunks, has_model_option);
  check_micro_batches(pipeline, num_ranks);
  if (pipeline.recompute && is_asynchronous(pipeline.schedule))
    throw UsageError(
        fmt::format("--recompute: expected a schedule that does not change weights under way (gpipe, "
                    "1f1b, interleaved), got {}",
                    pipeline.schedule));
}

}  // namespace lab::optc
