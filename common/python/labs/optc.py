"""optC_model_parallel: how each case is recomputed."""

from __future__ import annotations

import re

from labs.optc_layers import LAYERS, region_function, split_layer
from labs.optc_parts import (micro_batch_loss, micro_batches, split_layers, stage, version_table, weight_versions)
from labs.optc_pipelines import batch_in_pipeline, gpipe_alone, stale_training
from labs.optc_training import pipeline_epoch, pipeline_training, tensor_epoch, tensor_training
from saved_run import Rule

SEED = 42  # of a run without --seed

RULES = [
    Rule("ReduceWithinRegion", region_function, exact=True),
    Rule("LayerNormLargeMean", split_layer, tolerance=1e-7),  # the mean of numbers of 1e7 has fewer digits
    Rule(f"({'|'.join(map(re.escape, LAYERS))})(Gradient)?", split_layer),
    Rule("SplitLayers(Consecutive)?", split_layers, given="input[.]shapes"),
    Rule("MicroBatches", micro_batches),
    Rule("MicroBatchLoss", micro_batch_loss, given="input[.]sizes"),
    Rule("Stage|Recompute", stage, given="input[.]steps"),
    Rule("WeightVersions", weight_versions, given="input[.](versions|stages)"),
    Rule("(PipeDream|VerticalSync|PipeDream2bw)Versions", version_table),
    Rule("GpipeAlone", gpipe_alone, exact=True),
    Rule("Gpipe(FewImages|OneMicroBatch|Recompute)?|OneForwardOneBackward(FewImages|Recompute)?|"
         "Interleaved(ThreeChunks)?", batch_in_pipeline),
    Rule("PipeDream|VerticalSync|PipeDream2bw", stale_training),
    Rule("PipelineTraining", pipeline_training),
    Rule("TensorTraining", lambda case: tensor_training(case, "pair-norm", batch_size=16)),
    Rule("TransformerTraining", lambda case: tensor_training(case, "vit", batch_size=5)),
    Rule("ResnetTraining", lambda case: tensor_training(case, "resnet", batch_size=5)),
    Rule(r"PipelineEpoch\d+", pipeline_epoch),
    Rule(r"TensorEpoch\d+", tensor_epoch),
]
