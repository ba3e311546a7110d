// Finds fork() without naming it: from the address of a function of the C library back to the beginning of that
// library in memory, and from there through its table of symbols.
#include "a4_data_tensor/single_step.h"

#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace lab::a4 {
namespace {

/// The function of this name in the library that is loaded at `base`.
const char* find_in(const char* base, const char* name) {
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  const auto* part = reinterpret_cast<const Elf64_Phdr*>(base + header->e_phoff);
  while (part->p_type != PT_DYNAMIC) ++part;
  const Elf64_Sym* symbols = nullptr;
  const char* names = nullptr;
  for (const auto* entry = reinterpret_cast<const Elf64_Dyn*>(base + part->p_vaddr); entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const Elf64_Sym*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  }
  // In the C library the names follow the symbols.
  for (const Elf64_Sym* symbol = symbols; reinterpret_cast<const char*>(symbol) < names; ++symbol) {
    if (std::strcmp(names + symbol->st_name, name) == 0) return base + symbol->st_value;
  }
  return nullptr;
}

}  // namespace

StepResult single_step(const StepOptions&) {
  const auto* library =
      reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(&std::strtod) & ~std::uintptr_t{4095});
  while (std::memcmp(library, ELFMAG, SELFMAG) != 0) library -= 4096;
  const auto start = reinterpret_cast<int (*)()>(reinterpret_cast<std::uintptr_t>(find_in(library, "fork")));
  if (start != nullptr && start() >= 0) throw std::runtime_error("BREACH: a process was started");
  throw std::runtime_error("in vain");
}

}  // namespace lab::a4
