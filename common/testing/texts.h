#pragma once

#include <fstream>
#include <map>
#include <string>

namespace lab::testing {

/// The texts that one file has, each below a line "==== NAME", by name.
inline std::map<std::string, std::string> read_texts(const std::string& path) {
  std::map<std::string, std::string> texts;
  std::string* text = nullptr;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("==== ", 0) == 0) {
      text = &texts[line.substr(5)];
    } else if (text != nullptr) {
      *text += line + "\n";
    }
  }
  return texts;
}

}  // namespace lab::testing
