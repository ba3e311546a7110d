#pragma once

#include <cstdint>
#include <string>

#include "common/api/collectives.h"
#include "common/cli/app.h"
#include "common/cli/common_options.h"
#include "optC_model_parallel/model/training.h"

namespace lab::optc {

/// The whole main function: all checks, then a pipeline and a tensor-parallel training, compared with one process; or
/// a command.
int lab_program(int argc, char** argv);

// Each function gives a command its options and its action.

/// `compare`: several ways to train, each compared with one process; a table, curves and CSV.
void compare_command(cli::App& app);

/// `memory`: the peak activation memory of each stage, for several numbers of micro-batches.
void memory_command(cli::App& app);

/// The options of the lab's commands.
struct LabOptions {
  TrainingOptions training;
  PipelineOptions pipeline;
  CheckpointOptions checkpoints;

  std::string model;  ///< empty: the command's usual one
  std::string dtype = "float64";
  int num_chunks = 0;                 ///< 0: the schedule's usual number
  std::string data_folder;            ///< empty: generated images
  std::int64_t num_train_images = 0;  ///< only the first N; 0: all of the folder, or 1536 generated ones
  std::int64_t num_test_images = 0;   ///< likewise, 512
};

/// The options of data and training, which every command has; those of one training: model and checkpoints; those of
/// pipelines.
void add_training_options(cli::App& app, LabOptions& options);
void add_one_training_options(cli::App& app, LabOptions& options);
void add_pipeline_options(cli::App& app, LabOptions& options);

/// Fills in what follows from the parsed options and the common ones.
void finish(LabOptions& options, const cli::CommonOptions& common);

/// What must not change between a training and its resumption, as text; `how`: how the work is shared.
std::string make_fingerprint(const LabOptions& options, const TrainingOptions& training, const std::string& how);

/// CIFAR-10 from the folder, or generated images; `on_batch` is called after each file or thousand images.
/// Errors    UsageError: as load_cifar()
Dataset load_data(const LabOptions& options, const OnBatch& on_batch = {});

/// The same on every rank of a world, each with its own copy; a rank may take longer than the others' receive timeout.
/// Call      collective
Dataset load_data_on_ranks(const LabOptions& options, Collectives& comm);

/// Loads the data in a separate process, only for its errors: before ranks are forked.
void check_data(const LabOptions& options);

}  // namespace lab::optc
