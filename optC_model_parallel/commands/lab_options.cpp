#include <fmt/format.h>

#include "common/api/shapes.h"
#include "common/comm/lone_work.h"
#include "common/launch/supervise/run_in_child.h"
#include "common/pipeline/generators.h"
#include "optC_model_parallel/commands/commands.h"
#include "optC_model_parallel/commands/training_run.h"
#include "optC_model_parallel/model/images.h"
#include "optC_model_parallel/model/parallel/strategies.h"

namespace lab::optc {

void add_training_options(cli::App& app, LabOptions& options) {
  TrainingOptions& training = options.training;
  app.add_text("--data", options.data_folder, "DIR", "CIFAR-10, binary version; default: generated images");
  app.add_integer("--train-images", options.num_train_images, {0, 1 << 24},
                  "use only the first N training images; 0: all, or 1536 generated ones");
  app.add_integer("--test-images", options.num_test_images, {0, 1 << 24},
                  "use only the first N test images; 0: all, or 512 generated ones");
  app.add_choice("--dtype", options.dtype, {"float64", "float32"}, "of weights, activations and gradients");
  app.add_integer("--epochs", training.num_epochs, {0, 100000}, "passes over all images");
  app.add_integer("--batch-size", training.batch_size, {1, 1 << 20}, "images per update");
  app.add_choice("--optimizer", training.optimizer.kind, {"sgd", "adam"}, "how gradients change weights");
  app.add_number("--lr", training.optimizer.learning_rate, {}, "learning rate");
  app.add_number("--momentum", training.optimizer.momentum, {-1e-9, 1, "X"}, "of sgd");
}

void add_one_training_options(cli::App& app, LabOptions& options) {
  CheckpointOptions& checkpoints = options.checkpoints;
  app.add_text("--model", options.model, "NAME", "the network; default: the usual one");
  app.add_integer("--checkpoint-every", checkpoints.every, {0, 1 << 30}, "steps between checkpoints; 0: none");
  app.add_text("--checkpoint-dir", checkpoints.folder, "DIR",
               "folder of the checkpoints; OUT/optC_checkpoints if empty");
  app.add_flag("--resume", checkpoints.resume, "resume from the newest checkpoint");
}

void add_pipeline_options(cli::App& app, LabOptions& options) {
  PipelineOptions& pipeline = options.pipeline;
  app.add_choice("--schedule", pipeline.schedule, schedule_names(), "the order of computations");
  app.add_integer("--micro-batches", pipeline.num_micro_batches, {1, 1 << 20}, "pieces of a batch");
  app.add_integer("--chunks", options.num_chunks, {0, 1024}, "stages on each rank; 0: 2 with interleaved, otherwise 1");
  app.add_flag("--recompute", pipeline.recompute, "drop activations, and recompute them in the backward pass");
}

void finish(LabOptions& options, const cli::CommonOptions& common) {
  options.training.seed = common.seed;
  options.training.dtype = parse_dtype(options.dtype);
  PipelineOptions& pipeline = options.pipeline;
  pipeline.num_chunks = options.num_chunks != 0 ? options.num_chunks : pipeline::usual_chunks(pipeline.schedule);
  if (options.checkpoints.folder.empty()) options.checkpoints.folder = common.out_dir + "/optC_checkpoints";
}

std::string make_fingerprint(const LabOptions& options, const TrainingOptions& training, const std::string& how) {
  const std::string data = options.data_folder.empty() ? "generated images" : "images of " + options.data_folder;
  return fmt::format("{}; {} ({}, {}); {}; checkpoints every {} steps", describe(training), data,
                     options.num_train_images, options.num_test_images, how, options.checkpoints.every);
}

Dataset load_data(const LabOptions& options, const OnBatch& on_batch) {
  const std::int64_t num_train = options.num_train_images, num_test = options.num_test_images;
  if (options.data_folder.empty())
    return generated_images(num_train == 0 ? 1536 : num_train, num_test == 0 ? 512 : num_test, options.training.seed,
                            on_batch);
  const auto first_images = [](const Images& images, std::int64_t count) {
    if (count == 0 || count >= images.size()) return images;
    return Images{images.pixels.narrow(0, 0, count).clone(), images.labels.narrow(0, 0, count).clone()};
  };
  const Dataset all = load_cifar(options.data_folder, on_batch);
  return {first_images(all.train, num_train), first_images(all.test, num_test)};
}

Dataset load_data_on_ranks(const LabOptions& options, Collectives& comm) {
  Dataset data;
  comm::work_while_others_wait(comm, [&](const comm::ReportProgress& report) { data = load_data(options, report); });
  return data;
}

void check_data(const LabOptions& options) {
  if (options.data_folder.empty()) return;
  launch::run_in_child("reading the images", [&] { load_cifar(options.data_folder); });
}

}  // namespace lab::optc
