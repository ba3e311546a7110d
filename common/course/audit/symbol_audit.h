#pragma once

#include <string>
#include <vector>

// Compiled student code must not reach around its interface: no transport or process group of a library, no network, no
// shared memory, no processes or threads of its own, nothing loaded or looked up at run time. The poisoned header stops
// names; this detects what names do not show: asm labels, own declarations, system calls in machine code, sections that
// tell the linker what to do, and what runs before or in place of the suite's own code. This is advice: what holds a
// judged rank is its filter of system calls.
namespace lab {

struct SymbolOffence {
  enum class Kind {
    kForbidden,  ///< a rule of forbidden_symbols.txt, or a trick with no symbol
    kNoted,      ///< a rule in its section [noted]: nothing is refused for it
    kUnlisted    ///< not in allowed_symbols.txt, nor defined in another of the files: somebody has to look
  };
  std::string file;  ///< of an archive's member ARCHIVE:MEMBER
  Kind kind = Kind::kForbidden;
  std::string symbol;  ///< an unlisted one without parameters
  std::string place;   ///< PATH:LINE in a folder student/, if asked for and the object knows it
  std::string hint;    ///< what to use instead; empty for an unlisted one

  /// "FILE: forbidden: SYMBOL; use instead: HINT"
  std::string text() const;
};

/// What objects and archives must not refer to, in order and each once.
/// rules     the folder with forbidden_symbols.txt and allowed_symbols.txt
/// known     further files, of which only what they define is of interest
/// Errors    UsageError: a file that cannot be read, an invalid rule
std::vector<SymbolOffence> audit_symbols(const std::string& rules, const std::vector<std::string>& files,
                                         bool with_places = false, const std::vector<std::string>& known = {});

}  // namespace lab
