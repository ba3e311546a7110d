#include "common/launch/slurm_lists.h"

#include <algorithm>

#include "common/report/option_value.h"

namespace lab {

std::string first_host(const std::string& node_list) {
  std::string host;
  for (std::size_t i = 0; i < node_list.size() && node_list[i] != ','; ++i) {
    if (node_list[i] != '[') {
      host += node_list[i];
      continue;
    }
    const std::size_t end_of_first = std::min(node_list.find_first_of("-,]", i), node_list.size());
    host += node_list.substr(i + 1, end_of_first - i - 1);
    i = std::min(node_list.find(']', i), node_list.size());
  }
  return host;
}

std::optional<int> tasks_on_node(const std::string& tasks_per_node, int node) {
  for (std::size_t begin = 0; begin < tasks_per_node.size();) {
    const std::size_t end = std::min(tasks_per_node.find(',', begin), tasks_per_node.size());
    std::string tasks = tasks_per_node.substr(begin, end - begin);
    std::optional<int> repeats = 1;
    if (const std::size_t times = tasks.find("(x"); times != std::string::npos && tasks.back() == ')') {
      repeats = option::whole<int>(tasks.substr(times + 2, tasks.size() - times - 3));
      tasks.resize(times);
    }
    if (!repeats) return std::nullopt;
    if (node < *repeats) return option::whole<int>(tasks);
    node -= *repeats;
    begin = end + 1;
  }
  return std::nullopt;
}

}  // namespace lab
