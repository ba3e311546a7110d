#include "vae_sequence_parallel/cases/cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/api/errors.h"
#include "vae_sequence_parallel/cases/reconstruction_lines.h"

namespace lab::vae {
namespace {

std::vector<Case> joined(std::vector<Case> cases, const std::vector<Case>& more) {
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

LabStep reconstruction(const StepBody& reconstruct) {
  LabStep step;
  step.run = reconstruct;
  step.expect = [](log::LogExpectation& log) {
    log.add(0, log::rank_text(kPictureLine));
    log.add(0, log::rank_text(kPsnrLine));
    log.add_on_every_rank(log::ExpectedMatch{kReconstruction, true, 1e-3, "", ""});
    log.add_on_every_rank(log::rank_text(kPeakLine));
    log.add(0, log::rank_text(kSamplesLine));
    log.add(0, log::ExpectedMatch{kJpegs, true, 1, "", ""});
  };
  return step;
}

}  // namespace

std::vector<ModuleSection> module_sections() {
  return {
      {"conv2d",
       {"ParallelConv2d: each rank has some columns; the neighbours' borders come by message.", conv_cases()}},
      {"groupnorm",
       {"ParallelGroupNorm: the statistics of all columns, from the moments of each rank's.", norm_cases()}},
      {"upsample", {"ParallelUpsample: every rank keeps its columns, twice as many.", upsample_cases()}},
      {"attn_block", {"Attention among the positions of all ranks, by all-to-all and by a ring.", attention_cases()}},
      {"attn_block", {"ParallelAttnBlock: norm, attention, and what is added to them.", attn_block_cases()}},
      {"decoder", {"ParallelResnetBlock: norms and convolutions in a row.", resnet_block_cases()}},
      {"decoder",
       {"ParallelDecoder and ParallelAutoEncoder, on a small model.", joined(decoder_cases(), autoencoder_cases())}},
      {"decoder",
       {"What modules that are made of others send: what their layers send, and no more.",
        joined(block_traffic_cases(), decoder_traffic_cases())}},
      {"conv2d", {"Beyond the handout: gradients of ParallelConv2d.", conv_gradient_cases()}},
      {"groupnorm", {"Beyond the handout: gradients of ParallelGroupNorm.", norm_gradient_cases()}},
      {"attn_block", {"Beyond the handout: gradients of attention.", attention_gradient_cases()}},
      {"decoder",
       {"Beyond the handout: gradients of what is made of them.",
        joined(block_gradient_cases(), decoder_gradient_cases())}},
      {"memory", {"The bonus: how much a piece of work held in memory.", memory_cases()}}};
}

std::vector<std::string> module_tags() {
  std::vector<std::string> tags;
  for (const ModuleSection& each : module_sections()) {
    if (std::find(tags.begin(), tags.end(), each.tag) == tags.end()) tags.push_back(each.tag);
  }
  return tags;
}

std::vector<Section> sections(const std::string& only) {
  std::vector<Section> chosen;
  for (const ModuleSection& each : module_sections()) {
    if (only.empty() || each.tag == only) chosen.push_back(each.section);
  }
  return chosen;
}

void require_columns(const std::string& only, int num_ranks) {
  constexpr const char* kTag = "decoder";  // of the autoencoder's cases
  if (num_ranks <= kFewestLatentColumns || (!only.empty() && only != kTag)) return;
  throw UsageError(
      fmt::format("--nproc: the checks of the decoder have a latent of {0} columns: expected at most {0} ranks, got "
                  "{1}; hint: test, "
                  "or modules --only with another part, runs on more",
                  kFewestLatentColumns, num_ranks));
}

std::vector<Case> all_cases() {
  return with_costly(
      list_cases(sections()),
      {"AttnBlock_64", "AttnBlock_128", "AttnBlock_256", "AutoEncoder", "AutoEncoderUnevenDouble", "Conv2d_128to256_k3",
       "Decoder8HeadsDouble", "DecoderGradient", "DecoderTraffic", "DecoderUneven", "GroupNormMoments",
       "DecoderUnevenDouble", "GroupNorm_8of512", "GroupNorm_16of256", "Upsample_256"});
}

std::vector<LabStep> program_steps(const StepBody& serial_steps, const StepBody& reconstruct) {
  return {announcement(), {serial_steps, {}}, checks(sections()), reconstruction(reconstruct), done()};
}

std::vector<LabStep> modules_steps(const std::string& only) {
  return {announcement(), checks(sections(only)), done()};
}

std::vector<LabStep> test_steps(const StepBody& reconstruct) {
  return {announcement(), reconstruction(reconstruct), done()};
}

log::LogExpectation expected_log(int num_ranks) {
  return make_expectation(program_steps({}, {}), num_ranks);
}

GradedLab graded_lab() {
  return {all_cases, expected_log};
}

}  // namespace lab::vae
