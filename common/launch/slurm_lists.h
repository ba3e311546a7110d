#pragma once

#include <optional>
#include <string>

// Slurm's compact notations.
namespace lab {

/// Example   first_host("node[03-05,09],login1") == "node03"
std::string first_host(const std::string& node_list);

/// Tasks on the node of this number. Nothing where the text has no such node or is no such list.
/// Example   tasks_on_node("2(x3),1", 3) == 1
std::optional<int> tasks_on_node(const std::string& tasks_per_node, int node);

}  // namespace lab
