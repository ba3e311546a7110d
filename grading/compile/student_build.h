#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/launch/supervise/run_directory.h"
#include "grading/compile/build_recipe.h"
#include "grading/compile/object_store.h"
#include "grading/compile/replace_files.h"
#include "grading/compile/symbol_audit.h"
#include "grading/sandbox/sandbox.h"

namespace lab::grading {

/// A lab's program built from a submission's files, and from the starter's stubs where a file is missing or unusable.
struct StudentBuild {
  std::shared_ptr<launch::RunDirectory> folder;  ///< holds the program as long as it is needed
  std::string program;                           ///< empty if there is none
  std::string not_linked;                        ///< why there is none: what the linker said, which blames no file
  std::map<std::string, std::string> replaced;   ///< file -> why it was replaced by its stub
  /// Those of the replaced that may be fine: somebody has to look at these symbols of theirs first.
  std::map<std::string, std::set<std::string>> needs_look;
  std::set<std::string> changed;     ///< files that are neither the reference nor a stub
  std::set<std::string> stubs;       ///< files that are stubs, submitted or put in
  std::vector<BuiltObject> objects;  ///< what was linked; none: the linker refused some

  /// Whether the file is the submission's, and more than a stub.
  bool is_own(const std::string& file) const { return stubs.count(file) == 0; }
};

/// Compiles and links. A file that is missing, does not compile, cannot be linked, or reaches around what it may use is
/// replaced by its stub, so that the others are still judged; so is one that uses what nobody has listed or accepted.
class StudentBuilder {
 public:
  StudentBuilder(BuildRecipe recipe, const ObjectStore& store, const Sandbox& sandbox,
                 AcceptedSymbols accepted = AcceptedSymbols());

  const BuildRecipe& recipe() const { return recipe_; }

  /// `texts`: what was submitted, by the recipe's names. `use_reference`: files of the reference that take the place of
  /// the submission's. `use_stubs`: files that are left out whatever they hold.
  /// Errors    NotJudged: the machine kept a tool from working, twice
  StudentBuild build(const std::map<std::string, std::string>& texts, const std::set<std::string>& use_reference = {},
                     const std::set<std::string>& use_stubs = {}) const;

  /// As build(texts, use_reference), from the objects of build(texts) where these are enough.
  StudentBuild build_again(const StudentBuild& whole, const std::map<std::string, std::string>& texts,
                           const std::set<std::string>& use_reference) const;

 private:
  /// What the audit of symbols finds in these objects together: one may use what another defines.
  std::map<std::string, AuditedObject> audited(const std::set<std::string>& objects) const;
  /// Which of the checks' functions it calls; empty: none.
  std::string called_check(const std::string& object) const;
  /// What `found` says of the object that speaks against using it, or that somebody has to look at first, and which of
  /// the checks' functions it calls.
  std::vector<std::string> find_offences(const std::string& object,
                                         const std::map<std::string, AuditedObject>& found) const;
  /// Puts what was compiled among the objects, except for files that must not be, or wait to be, used. `found`: what the
  /// audit says of the objects.
  void add_compiled(const std::map<std::string, CompiledSource>& compiled,
                    const std::map<std::string, AuditedObject>& found, StudentBuild& result,
                    std::map<std::string, std::string>& objects) const;
  /// Puts the stubs of files that have been replaced since among the objects.
  void add_new_stubs(StudentBuild& result, std::map<std::string, std::string>& objects) const;
  /// Compiles as many of these files as possible in units, and links them to the objects. False, with nothing changed:
  /// they need to be compiled and blamed one by one.
  bool link_in_units(const std::map<std::string, std::string>& texts, std::map<std::string, std::string> objects,
                     StudentBuild& result) const;
  /// Puts the stubs of these files among the objects.
  void add_stubs(const std::set<std::string>& names, std::map<std::string, std::string>& objects) const;

  BuildRecipe recipe_;
  const ObjectStore& store_;
  const Sandbox& sandbox_;
  AcceptedSymbols accepted_;
};

}  // namespace lab::grading
