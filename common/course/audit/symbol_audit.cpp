#include "common/course/audit/symbol_audit.h"

#include <fmt/format.h>
#include <glob.h>
#include <regex.h>
#include <sys/utsname.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "common/api/errors.h"
#include "common/base/files.h"
#include "common/base/subprocess.h"
#include "common/base/text.h"

namespace lab {
namespace {

using Kind = SymbolOffence::Kind;

/// An extended regular expression. (std::regex overflows the stack on the names of long template instances.)
class Pattern {
 public:
  explicit Pattern(const std::string& expression) {
    if (regcomp(&regex_, expression.c_str(), REG_EXTENDED) != 0)
      throw UsageError(fmt::format("the audit's rules: '{}': expected an extended regular expression", expression));
  }
  ~Pattern() { regfree(&regex_); }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool matches(const std::string& text) const { return regexec(&regex_, text.c_str(), 0, nullptr, 0) == 0; }
  /// The match and its groups; none without a match.
  std::vector<std::string> find(const std::string& text) const {
    regmatch_t found[kMostGroups];
    if (regexec(&regex_, text.c_str(), kMostGroups, found, 0) != 0) return {};
    std::vector<std::string> groups;
    for (const regmatch_t& group : found) {
      const bool is_part = group.rm_so >= 0;
      groups.push_back(is_part ? text.substr(group.rm_so, group.rm_eo - group.rm_so) : std::string());
    }
    return groups;
  }
  /// The text before the first match and the text after it; none without a match.
  std::vector<std::string> split(const std::string& text) const {
    regmatch_t found;
    if (regexec(&regex_, text.c_str(), 1, &found, 0) != 0) return {};
    return {text.substr(0, found.rm_so), text.substr(found.rm_eo)};
  }
  /// Whether there was something to remove.
  bool remove_first(std::string& text) const {
    regmatch_t found;
    if (regexec(&regex_, text.c_str(), 1, &found, 0) != 0) return false;
    text.erase(found.rm_so, found.rm_eo - found.rm_so);
    return true;
  }
  /// Also those that removing others has made.
  void remove_all(std::string& text) const {
    while (remove_first(text)) continue;
  }

 private:
  static constexpr std::size_t kMostGroups = 5;
  regex_t regex_;
};

struct Rule {
  explicit Rule(const std::string& name) : pattern("^(" + name + ")$") {}
  Pattern pattern;
  Kind kind = Kind::kForbidden;
  std::string hint;
  bool granted = true;  ///< of an allowed one
};

ProgramEnd run_tool(const std::vector<std::string>& command, const std::vector<std::string>& files) {
  ProcessSpec tool;
  tool.argv = command;
  tool.argv.insert(tool.argv.end(), files.begin(), files.end());
  tool.environment = {{"LC_ALL", "C"}};
  return run_program(tool);
}

/// The lines that it prints, without line breaks.
std::vector<std::string> lines_from(const std::vector<std::string>& command, const std::vector<std::string>& files) {
  std::vector<std::string> lines = list_lines(run_tool(command, files).out);
  for (std::string& line : lines) line = without_line_break(line);
  return lines;
}

/// What is left of a demangled name without parameters, template arguments and return type.
std::string bare(std::string name) {
  static const Pattern marks(R"(\[abi:[^]]*\]| ?\[clone [^]]*\])");
  static const Pattern operators(R"(operator(\(\)|<=>|<<=|>>=|<<|>>|<=|>=|->\*|->|<|>))");
  static const Pattern of_data(
      "^(vtable|VTT|construction vtable|typeinfo|typeinfo name|guard variable|TLS (init|wrapper) function|"
      "(non-virtual|virtual) thunk|reference temporary #[0-9]+) (for|to) ");
  static const Pattern template_arguments("<[^<>]*>"), parameters(R"(\([^()]*\))");
  static const Pattern qualifiers("( const| volatile| *&+| )$"), own_operator("[^ ]*operator[^A-Za-z0-9_].*$");
  marks.remove_all(name);
  replace_all(name, "(anonymous namespace)", "{anonymous}");
  // The signs of an operator are no brackets.
  std::string done;
  for (auto found = operators.find(name); !found.empty(); found = operators.find(name)) {
    const std::size_t begin = name.find(found[0]);
    std::string token = found[0];
    replace_all(token, "<", "\001");
    replace_all(token, ">", "\002");
    replace_all(token, "()", "\003");
    done += name.substr(0, begin) + token;
    name.erase(0, begin + found[0].size());
  }
  name = done + name;
  const bool is_data = of_data.remove_first(name);
  template_arguments.remove_all(name);
  parameters.remove_all(name);
  if (!is_data) {
    qualifiers.remove_all(name);
    if (const auto found = own_operator.find(name); !found.empty()) {
      name = found[0];
    } else {
      name.erase(0, name.rfind(' ') + 1);  // npos + 1 is 0
    }
  }
  replace_all(name, "\001", "<");
  replace_all(name, "\002", ">");
  replace_all(name, "\003", "()");
  return name;
}

std::set<std::string> symbols_of_c_library() {
  glob_t paths{};
  for (const char* place : {"/lib*/libc.so.6", "/lib*/libm.so.6", "/lib/*/libc.so.6", "/lib/*/libm.so.6"})
    ::glob(place, paths.gl_pathc == 0 ? 0 : GLOB_APPEND, nullptr, &paths);
  const std::vector<std::string> libraries(paths.gl_pathv, paths.gl_pathv + paths.gl_pathc);
  ::globfree(&paths);
  std::set<std::string> symbols;
  if (libraries.empty()) return symbols;
  for (const std::string& line : lines_from({"nm", "-D", "--defined-only"}, libraries)) {
    const std::string name = line.substr(line.rfind(' ') + 1);
    symbols.insert(name.substr(0, name.find('@')));
  }
  return symbols;
}

/// Offences by the names of symbols. An undefined one is forbidden, listed or unlisted; a defined one must not take the
/// place of the C or C++ library's.
class NameAudit {
 public:
  explicit NameAudit(const std::string& rules) {
    Kind kind = Kind::kForbidden;
    std::string hint;
    for (const std::string& line : rules_in(rules + "/forbidden_symbols.txt")) {
      if (line[0] == '[') {
        kind = line.rfind("[noted]", 0) == 0 ? Kind::kNoted : Kind::kForbidden;
        hint = line.substr(line.find(' ') + 1);
        continue;
      }
      Rule& rule = forbidden_.emplace_back(line);
      rule.kind = kind;
      rule.hint = hint;
    }
    for (const std::string& line : rules_in(rules + "/allowed_symbols.txt")) {
      const bool granted = line[0] != '!';
      allowed_.emplace_back(granted ? line : line.substr(1)).granted = granted;
    }
  }

  std::vector<SymbolOffence> offences(const std::vector<std::string>& files, bool with_places,
                                      const std::vector<std::string>& known) {
    // The first in a line: what follows is the student's to choose.
    static const Pattern definition(":[0-9a-f]+ [A-Za-z] "), use(": +[UwvWV] ");
    // Not those that are given a place (", void*"), which are in a header.
    static const Pattern allocator(
        R"(^operator (new|delete)(\[\])?\([a-z *]*(, (unsigned long|std::[a-z_]*( const&)?))*\)$)");
    const std::set<std::string> c_library = symbols_of_c_library();
    std::vector<SymbolOffence> found;
    if (!known.empty()) {
      for (const std::string& line : lines_from({"nm", "-C", "--defined-only", "--extern-only"}, known))
        defined_.insert(line.substr(std::min(line.find(' ') + 3, line.size())));  // "0000000000000012 T NAME"
    }
    for (const std::string& line : lines_from({"nm", "-A", "-C", "--defined-only", "--extern-only"}, files)) {
      const auto parts = definition.split(line);
      if (parts.empty()) continue;
      const std::string& symbol = parts[1];
      defined_.insert(symbol);
      if (c_library.count(symbol) != 0)
        found.push_back(
            {parts[0], Kind::kForbidden, "takes the place of the C library's " + symbol, "", "another name"});
      if (allocator.matches(symbol))
        found.push_back(
            {parts[0], Kind::kForbidden, "takes the place of the C++ library's " + symbol, "", "that of a class"});
    }
    std::vector<std::string> command = {"nm", "-A", "-C", "-u"};
    if (with_places) command.emplace_back("-l");
    for (const std::string& line : lines_from(command, files)) {
      const auto parts = use.split(line);
      if (parts.empty()) continue;
      const std::string used = parts[1].substr(0, parts[1].find('@'));
      const std::size_t tab = std::min(used.find('\t'), used.size());
      SymbolOffence offence = judge(used.substr(0, tab));
      if (offence.symbol.empty()) continue;
      offence.file = parts[0];
      const std::string place = used.substr(std::min(tab + 1, used.size()));
      if (place.find("/student/") != std::string::npos) offence.place = place;
      found.push_back(offence);
    }
    return found;
  }

 private:
  static std::vector<std::string> rules_in(const std::string& file) {
    std::vector<std::string> rules;
    for (const std::string& line : list_lines(read_file(file))) {
      const std::string rule(without_line_break(line));
      if (!rule.empty() && rule[0] != '#') rules.push_back(rule);
    }
    return rules;
  }

  /// Without a symbol if it may be used.
  const SymbolOffence& judge(const std::string& symbol) {
    const auto [known, is_new] = judged_.try_emplace(symbol);
    if (!is_new) return known->second;
    SymbolOffence& offence = known->second;
    for (const Rule& rule : forbidden_) {
      if (!rule.pattern.matches(symbol)) continue;
      offence = {"", rule.kind, symbol, "", rule.hint};
      return offence;
    }
    std::string name = bare(symbol);
    if (name.empty()) name = symbol;
    if (defined_.count(symbol) != 0) return offence;
    const auto last =
        std::find_if(allowed_.rbegin(), allowed_.rend(), [&](const Rule& rule) { return rule.pattern.matches(name); });
    if (last == allowed_.rend() || !last->granted) offence = {"", Kind::kUnlisted, name, "", ""};
    return offence;
  }

  std::list<Rule> forbidden_, allowed_;
  std::set<std::string> defined_;
  std::map<std::string, SymbolOffence> judged_;
};

bool has_system_call(const std::string& bytes) {
  for (const char* instruction : {"\x0f\x05", "\x0f\x34", "\xcd\x80"}) {
    if (bytes.find(instruction) != std::string::npos) return true;
  }
  return false;
}

/// What has no symbol.
std::vector<SymbolOffence> offences_without_name(const std::string& file) {
  // No other characters in a name: g++ hands them to the assembler, which may take what follows a line break as its own.
  // The type of clang's table of addresses has no name in every readelf.
  static const Pattern usual_section(
      R"(^of type (NULL|PROGBITS|NOBITS|STRTAB|SYMTAB|RELA?|NOTE|GROUP|INIT_ARRAY|FINI_ARRAY|X86_64_UNWIND|)"
      R"(LLVM_ADDRSIG|LOOS\+0xfff4c03|SYMTAB_SHNDX): )"
      R"((\.(text|data|rodata|bss|tdata|tbss|gcc_except_table|note|debug_[a-z]+)([._][A-Za-z0-9_.$-]*)?|)"
      R"(\.rela?\.[A-Za-z0-9_.$-]*|\.(init|fini)_array|\.eh_frame|\.comment|\.group|\.(sym|str|shstr)tab|)"
      R"(\.symtab_shndx|\.llvm_addrsig)$)");
  static const Pattern section(
      "^ *\\[ *[0-9]+\\] (.*[^ ]) +([^ ]+) +[0-9a-f]{8,16} ([0-9a-f]{6,} [0-9a-f]{6,}) [0-9a-f]{2} (.*)$");
  static const Pattern instruction(R"(^ *[0-9a-f]+:[[:space:]](syscall|sysenter|svc[[:space:]]|int +\$0x80))");
  static const Pattern flags("^ *[A-Za-z]*X");
  std::vector<SymbolOffence> found;
  const auto add = [&](const std::string& what, const std::string& hint) {
    found.push_back({file, Kind::kForbidden, what, "", hint});
  };
  // Disassembling takes seconds: not an object for x86-64 of which no code section has the bytes of such an instruction.
  utsname machine{};
  ::uname(&machine);
  const std::string bytes = read_file(file);
  bool may_call_system = machine.machine != std::string("x86_64") || bytes.compare(0, 4,
                                                                                   "\x7f"
                                                                                   "ELF") != 0;
  for (const std::string& line : lines_from({"readelf", "-sSW"}, {file})) {
    if (const auto parts = section.find(line); !parts.empty()) {
      const std::string described = fmt::format("of type {}: {}", parts[2], parts[1]);
      if (!usual_section.matches(described))
        add("a section " + described, "plain C++, without attributes or assembler");
      std::size_t length = 0;
      const std::size_t begin = std::stoul(parts[3], &length, 16),
                        size = std::stoul(parts[3].substr(length), nullptr, 16);
      if (flags.matches(parts[4]) && begin < bytes.size() && has_system_call(bytes.substr(begin, size + 1)))
        may_call_system = true;
      continue;
    }
    std::istringstream words(line);
    std::string number, value, size, type, bind, visibility, index, name;
    if (words >> number >> value >> size >> type >> bind >> visibility >> index >> name;
        type == "IFUNC" && index != "UND")
      add("a function chosen when the program is loaded: " + name, "a function that chooses when it is called");
  }
  if (!may_call_system) return found;
  for (const std::string& line : lines_from({"objdump", "-d", "--no-show-raw-insn"}, {file})) {
    if (instruction.matches(line))
      add("a system call in machine code: " + one_line(line), "functions of the C++ library");
  }
  return found;
}

}  // namespace

std::string SymbolOffence::text() const {
  constexpr const char* kKinds[] = {"forbidden", "noted", "unlisted"};
  return fmt::format("{}: {}: {}{}{}", file, kKinds[static_cast<int>(kind)], symbol,
                     place.empty() ? "" : " at " + place, hint.empty() ? "" : "; use instead: " + hint);
}

std::vector<SymbolOffence> audit_symbols(const std::string& rules, const std::vector<std::string>& files,
                                         bool with_places, const std::vector<std::string>& known) {
  if (const ProgramEnd end = run_tool({"nm", "-u"}, files); !end.well())
    throw UsageError("these files cannot be read: " + one_line(end.err));
  std::vector<SymbolOffence> found = NameAudit(rules).offences(files, with_places, known);
  for (const std::string& file : files) {
    for (const SymbolOffence& offence : offences_without_name(file)) found.push_back(offence);
  }
  const auto key = [](const SymbolOffence& one) { return std::tie(one.file, one.kind, one.symbol, one.place); };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  found.erase(std::unique(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) == key(b); }),
              found.end());
  return found;
}

}  // namespace lab
