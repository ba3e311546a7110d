#pragma once

#include <string>
#include <vector>

#include "common/checks/graded_lab.h"
#include "common/checks/lab_step.h"
#include "vae_sequence_parallel/calls/calls.h"

namespace lab::vae {

/// A part of `modules --only TAG`.
struct ModuleSection {
  std::string tag;  ///< one of module_tags()
  Section section;
};

/// conv2d, groupnorm, upsample, attn_block, decoder, memory.
std::vector<std::string> module_tags();

/// All checks of the modules, in the order of the log.
std::vector<ModuleSection> module_sections();

/// The sections with this tag, in order; empty: all.
std::vector<Section> sections(const std::string& only = "");

/// Errors    UsageError: too many ranks for the sections with this tag
void require_columns(const std::string& only, int num_ranks);

/// The cases of all sections.
std::vector<Case> all_cases();

/// The program: `serial_steps` prints nothing, `reconstruct` the lines of reconstruction_lines.h. Whoever only needs
/// the lines, such as the judge, may leave both empty.
std::vector<LabStep> program_steps(const StepBody& serial_steps, const StepBody& reconstruct);

/// The same for `modules` and for `test` alone.
std::vector<LabStep> modules_steps(const std::string& only = "");
std::vector<LabStep> test_steps(const StepBody& reconstruct);

/// The lines of a right run.
log::LogExpectation expected_log(int num_ranks);

/// For the judge.
GradedLab graded_lab();

/// vae.ulysses, vae.ulysses_messages, vae.ring_attention, vae.ring_messages: attention alone, for any numbers of
/// positions; scores whose exponentials overflow without the maximum; and traffic.
std::vector<Case> attention_cases();
/// vae.attention_gradient.
std::vector<Case> attention_gradient_cases();

/// vae.upsample, at the handout's sizes and on the narrowest slices.
std::vector<Case> upsample_cases();
/// vae.attn_block: the handout's sizes with one head; 8 heads, by all-to-all or by the ring.
std::vector<Case> attn_block_cases();
/// vae.resnet_block, with and without a shortcut.
std::vector<Case> resnet_block_cases();
/// vae.decoder_gathers_nothing: everything that these modules send.
std::vector<Case> block_traffic_cases();
/// vae.decoder_gradient, for these modules.
std::vector<Case> block_gradient_cases();

/// vae.conv2d, vae.conv2d_halo, vae.conv2d_overlap: the handout's sizes; other kernels, strides and paddings; the cost
/// of halos; and model time.
std::vector<Case> conv_cases();
/// vae.conv2d_gradient.
std::vector<Case> conv_gradient_cases();

// The decoder and the autoencoder with a small config of FLUX.1's structure.
/// vae.decoder, on latents of even and uneven width; within 1e-5 in float32.
std::vector<Case> decoder_cases();
/// vae.autoencoder: "input.picture" and "input.latent", whole on every rank; "latent" and "picture". Each rank has a
/// column at least, so there are no more ranks than kFewestLatentColumns.
std::vector<Case> autoencoder_cases();
inline constexpr int kFewestLatentColumns = 13;
/// vae.decoder_gathers_nothing: everything that the decoder sends.
std::vector<Case> decoder_traffic_cases();
/// vae.decoder_gradient.
std::vector<Case> decoder_gradient_cases();

/// vae.group_norm, vae.group_norm_moments: the handout's sizes; means up to 1000 times the deviation, a variance as
/// small as epsilon; and the cost of moments.
std::vector<Case> norm_cases();
/// vae.group_norm_gradient.
std::vector<Case> norm_gradient_cases();

/// The bonus: work with a known peak memory.
std::vector<Case> memory_cases();

}  // namespace lab::vae
