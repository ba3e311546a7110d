#!/usr/bin/env bash
# libclang says one error where a header is missing, and leaves statements out of its tree without another word.
#
# Guess     After "file not found" libclang goes on and lists an error for each thing that it does not understand; or where it lists
#           none, the tree is whole. In any case each statement has a cursor, of an unknown kind at worst.
# Truth     The missing header is a fatal error, after which no other is told: undeclared types, and a loop over a braced list
#           (which needs <initializer_list>), give no diagnostic. The loop has no cursor at all, and a parameter of an
#           undeclared type is an int. Without the include the errors are listed, and the loop is missing all the same.
#           A tool that counts or edits statements sees a smaller program than the text.
# Version   libclang 16.0.6 with its Python bindings as Debian 12 has them (python3-clang-16 1:16.0.6-15~deb12u1)
# Source    Clang suppresses diagnostics after a fatal one, and makes no node for a statement that does not type-check; its
#           recovery expressions keep broken expressions, not such a loop.
# Remedy    Stop at any diagnostic of severity 3 (error) or 4 (fatal); never read the tree of a file that does not compile.
# Needs     Debian 12's archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(python3-clang-16=1:16.0.6-15~deb12u1 libclang1-16=1:16.0.6-15~deb12u1)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
root=$folder/root
mkdir -p "$folder/cache/archives/partial" "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,sys,tmp}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
touch "$folder/status"
apt=(apt-get -qq -y -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
"${apt[@]}" --no-install-recommends -d install "${packages[@]}" >"$folder/log" 2>&1 ||
  { echo "cannot get ${packages[*]}:"; tail -n 5 "$folder/log"; exit 2; } >&2
for package in "$folder"/cache/archives/*.deb; do
  dpkg --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
done
inside() { # COMMAND...: runs it in the unpacked root, with nothing of this machine's but the kernel
  unshare --map-root-user --mount bash -c 'mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" &&
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin chroot "$0" "$@"' "$root" "$@"
}
cat >"$root/tmp/program.cpp" <<'C++'
#include "no_such_header.h"
Unknown variable;
int sum(Tensor tensor, int count) {
  int total = 0;
  for (int i = 0; i < count; ++i) total += i;
  for (int i : {1, 2, 3}) total += i;
  while (total > 9) --total;
  return total;
}
C++
sed 1d "$root/tmp/program.cpp" >"$root/tmp/without_include.cpp"
cat >"$root/tmp/show.py" <<'PY'
import sys
from clang import cindex

for name in ("program.cpp", "without_include.cpp"):
    unit = cindex.Index.create().parse("/tmp/" + name, args=["-std=c++17", "-nostdinc"])
    print(name)
    for diagnostic in unit.diagnostics:
        print("  severity %d: %s" % (diagnostic.severity, diagnostic.spelling))
    function = [c for c in unit.cursor.get_children() if c.kind == cindex.CursorKind.FUNCTION_DECL][0]
    for part in function.get_children():
        print("  %s %s %s" % (part.kind.name, part.spelling, part.type.spelling))
        if part.kind == cindex.CursorKind.COMPOUND_STMT:
            for statement in part.get_children():
                print("    line %d: %s" % (statement.extent.start.line, statement.kind.name))
PY
{
  echo "version $(dpkg --field "$folder"/cache/archives/python3-clang-16_*.deb Version)"
  inside python3.11 /tmp/show.py
} 2>"$folder/errors" | sed 's/ *$//' | tee "$folder/output" || { cat "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 1:16.0.6-15~deb12u1
program.cpp
  severity 4: 'no_such_header.h' file not found
  PARM_DECL tensor int
  PARM_DECL count int
  COMPOUND_STMT
    line 4: DECL_STMT
    line 5: FOR_STMT
    line 7: WHILE_STMT
    line 8: RETURN_STMT
without_include.cpp
  severity 3: unknown type name 'Unknown'
  severity 3: unknown type name 'Tensor'
  severity 3: cannot deduce type of initializer list because std::initializer_list was not found; include <initializer_list>
  PARM_DECL tensor int
  PARM_DECL count int
  COMPOUND_STMT
    line 3: DECL_STMT
    line 4: FOR_STMT
    line 6: WHILE_STMT
    line 7: RETURN_STMT
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
