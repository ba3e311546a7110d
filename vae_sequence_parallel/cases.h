#pragma once

#include <string>
#include <vector>

#include "common/lab/section.h"

namespace lab::vae {

/// A part of `modules --only TAG`.
struct ModuleSection {
  std::string tag;  ///< one of module_tags()
  Section section;
};

/// conv2d, groupnorm, upsample, attn_block, decoder, memory.
std::vector<std::string> module_tags();

/// Everything that the lab checks of the modules, in the order of its log.
std::vector<ModuleSection> module_sections();

/// The sections with this tag, in order; empty: all.
std::vector<Section> sections(const std::string& only = "");

/// The cases of all sections.
std::vector<Case> all_cases();

}  // namespace lab::vae
