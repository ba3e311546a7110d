#include "grading/judge/lab_table.h"

#include <fmt/format.h>

#include "a4_data_tensor/cases.h"
#include "a4_data_tensor/log.h"
#include "a5_pipeline/cases.h"
#include "a9_collectives/cases.h"
#include "common/report/errors.h"
#include "common/report/nearest.h"
#include "optC_model_parallel/cases.h"
#include "vae_sequence_parallel/cases.h"
#include "vae_sequence_parallel/log.h"

namespace lab::grading {

const std::vector<JudgedLab>& judged_labs() {
  static const std::vector<JudgedLab> labs = {{"a4_data_tensor", "a4", a4::all_cases, a4::expected_log},
                                              {"a5_pipeline", "a5", a5::all_cases},
                                              {"a9_collectives", "a9", a9::all_cases},
                                              {"vae_sequence_parallel", "vae", vae::all_cases, vae::expected_log},
                                              {"optC_model_parallel", "optC", optc::all_cases}};
  return labs;
}

const JudgedLab& judged_lab(const std::string& name) {
  std::vector<std::string> known;
  for (const JudgedLab& lab : judged_labs()) {
    if (name == lab.folder || name == lab.short_name) return lab;
    known.push_back(lab.short_name);
  }
  const auto meant = nearest(name, known);
  throw UsageError(fmt::format("there is no lab '{}'; {}", name,
                               meant ? "did you mean " + *meant + "?" : "there is a4 a5 a9 vae optC"));
}

}  // namespace lab::grading
