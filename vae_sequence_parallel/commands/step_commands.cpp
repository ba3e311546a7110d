#include <fmt/format.h>

#include "common/api/shapes.h"
#include "common/base/files.h"
#include "common/tensor/files/picture.h"
#include "vae_sequence_parallel/commands/commands.h"
#include "vae_sequence_parallel/commands/markdown_log.h"
#include "vae_sequence_parallel/commands/reconstruction_files.h"
#include "vae_sequence_parallel/model/picture_difference.h"

namespace lab::vae {
namespace {

constexpr std::int64_t kAmplification = 64;  // makes one step of 8 bits visible

void add_folder(cli::App& app, StepOptions& options) {
  app.add_text("--out", options.out_dir, "DIR", "folder for the files of the steps");
}

void add_checkpoint(cli::App& app, StepOptions& options) {
  options.checkpoint = default_checkpoint();
  app.add_text("--checkpoint", options.checkpoint, "FILE",
               "parameters, .safetensors: the lab's own small ones, or FLUX.1's ae.safetensors");
}

void add_picture(cli::App& app, StepOptions& options) {
  app.add_text("--image", options.image, "FILE", "PNG or JPEG to encode; default: a generated picture");
  app.add_integer("--size", options.size, {1, 8192}, "side of the generated picture, pixels");
}

struct CompareOptions {
  std::string out_dir = StepOptions().out_dir, first, second;
};

ExitCode compare(CompareOptions options) {
  const ReconstructionFiles files(options.out_dir);
  if (options.first.empty()) options.first = files.baseline_jpg;
  if (options.second.empty()) options.second = files.parallel_jpg;
  const at::Tensor left = read_picture(options.first), right = read_picture(options.second);
  if (left.sizes() != right.sizes()) {
    throw UsageError(fmt::format("'{}' and '{}': expected pictures of one size, got {} and {}", options.first,
                                 options.second, shape_text(left.sizes()), shape_text(right.sizes())));
  }
  const SampleDifferences found = sample_differences(left, right);
  const auto most = (left.to(at::kInt) - right.to(at::kInt)).abs().max().item<std::int64_t>();
  fmt::print("{}\n{}\n", options.first, options.second);
  fmt::print("PSNR {:.2f} dB, largest difference {} of 255\n", psnr(left, right), most);
  fmt::print("of {} samples, {} differ by one step of 8 bits and {} by more\n", found.total, found.one_step,
             found.more);
  make_folder("--out", options.out_dir);
  const std::string drawn = options.out_dir + "/difference.png";
  write_picture(drawn, difference_picture(left, right, kAmplification));
  fmt::print("drawn: {}, differences times {}\n", drawn, kAmplification);
  return ExitCode::kAllMatch;
}

/// `encode` or `baseline`; what it made goes into the log, too.
ExitCode perform_step(const std::string& name, const StepOptions& options) {
  const std::string made = name == "encode" ? encode_step(options) : baseline_step(options);
  add_to_log(options.out_dir, action_page("vae_sequence_parallel " + name, made));
  fmt::print("{}\n", made);
  return ExitCode::kAllMatch;
}

}  // namespace

void add_step_options(cli::App& app, StepOptions& options) {
  add_checkpoint(app, options);
  add_picture(app, options);
}

void add_memory_limit(cli::App& app, StepOptions& options) {
  app.add_integer("--memory-limit", options.memory_limit_mb, {0, 1'000'000},
                  "most MB of tensors that a rank may hold to decode, besides parameters; 0: any number");
}

void encode_command(cli::App& app) {
  auto& options = app.own(StepOptions());
  add_step_options(app, options);
  app.add_seed("--seed", options.seed, "of the generated picture");
  add_folder(app, options);
  app.set_action([&] { return perform_step("encode", options); });
}

void baseline_command(cli::App& app) {
  auto& options = app.own(StepOptions());
  add_checkpoint(app, options);
  add_memory_limit(app, options);
  add_folder(app, options);
  app.set_action([&] { return perform_step("baseline", options); });
}

void compare_command(cli::App& app) {
  auto& options = app.own(CompareOptions());
  app.add_text("--out", options.out_dir, "DIR", "folder for the files of the steps");
  app.add_text("--first", options.first, "FILE", "PNG or JPEG; default: DIR/reconstructed_baseline.jpg");
  app.add_text("--second", options.second, "FILE", "PNG or JPEG; default: DIR/reconstructed_parallel.jpg");
  app.set_action([&] { return compare(options); });
}

}  // namespace lab::vae
