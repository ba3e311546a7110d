#pragma once

#include <string>

#include "common/course/rubric/rubric.h"
#include "common/course/rubric/toml_table.h"

namespace lab {

// A rubric's tables, each read into its item; unknown keys are refused. None of them looks at another item.

RubricTask read_task(const TomlTable& table);
RubricManual read_manual(const TomlTable& table);
RubricLadder read_ladder(const TomlTable& table);
RubricBonus read_bonus(const TomlTable& table);
RubricHandIn read_hand_in(const TomlTable& table);
/// Keys that the table does not have keep their values in `before`.
RubricJudging read_judging(const TomlTable& table, const RubricJudging& before = {});

}  // namespace lab
