#pragma once

#include <string>

namespace lab {

/// "written_answers_task1.template.md" of "written_answers_task1.md".
std::string find_template(const std::string& answer);

/// True if the template is still there (nine tenths of its words) and fewer than three words were added: it was opened,
/// or a name was written in it, and nothing that could be marked. A word is any text between blanks, such as the value
/// in a table's cell; code blocks that name their file do not count, as `lab submit` fills them.
bool is_untouched(const std::string& answer, const std::string& its_template);

}  // namespace lab
