#pragma once

#include <optional>
#include <string>

namespace lab {

/// The owner of a hand-in.
struct Identity {
  std::string name, id;  ///< "Ada Lovelace", "s1234567"; one of them may be empty

  bool empty() const { return name.empty() && id.empty(); }
};

/// Its file in a student's tree, where `lab submit` keeps it, and in a hand-in, next to the labs' folders.
inline constexpr char kIdentityInTree[] = ".lab-identity";
inline constexpr char kIdentityInHandIn[] = "identity.toml";

/// "Ada Lovelace (s1234567)"
std::string to_text(const Identity& identity);

/// The file: `name = "..."` and `id = "..."`.
std::string to_toml(const Identity& identity);
/// Parses that file. Values are made printable and cut to 100 bytes, as a student may have written anything.
/// Errors    UsageError: not TOML, a value that is not text; neither name nor id
Identity parse_identity(const std::string& toml, const std::string& path);

/// The student's own, from the tree's root; empty if there is none yet.
Identity load_identity(const std::string& root);
/// Errors    UsageError: cannot be written
void save_identity(const std::string& root, const Identity& identity);

/// A hand-in that is one Markdown file has the identity as a comment at its end:
///
///     <!-- identity.toml
///     name = "Ada Lovelace"
///     -->
std::string with_identity(const std::string& markdown, const Identity& identity);
/// The Markdown without that comment, and the comment's content.
struct SignedMarkdown {
  std::string text;
  std::optional<std::string> identity;  ///< TOML
};
SignedMarkdown split_identity(const std::string& markdown);

}  // namespace lab
