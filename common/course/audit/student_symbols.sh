#!/usr/bin/env bash
# Compiled student code must not reach around its interface: no transport or process group of a library, no network, no
# shared memory, no processes or threads of its own, nothing loaded or looked up at run time. The poisoned header stops
# names; this detects what names do not show: asm labels, own declarations, system calls in machine code, sections that
# tell the linker what to do, and what runs before or in place of the suite's own code. This is advice: what holds a
# judged rank is its filter of system calls.
#
# Prints a line for each offence:
#   FILE: forbidden: SYMBOL; use instead: HINT    a rule of forbidden_symbols.txt, or a trick with no symbol
#   FILE: noted: SYMBOL; use instead: HINT        a rule in its section [noted]: nothing is refused for it
#   FILE: unlisted: SYMBOL                        not in allowed_symbols.txt, nor defined in another of the files: it may
#                                                 be harmless, and somebody has to look. Without parameters
# An archive's member is ARCHIVE:MEMBER. With --lines, SYMBOL is followed by " at PATH:LINE" if the object says where in a
# folder student/ it is used. --may-end: the code may end its process, which only harms itself where it is judged.
# Exit codes: 0 nothing, 1 something forbidden, 2 usage, or a file that cannot be read, 3 only unlisted ones.
# usage: student_symbols.sh [--may-end] [--lines] OBJECT_OR_ARCHIVE...
set -uo pipefail
export LC_ALL=C
rules=$(dirname -- "$(readlink -f -- "$0")")
may_end='' lines=()
while [[ ${1:-} == --* ]]; do
  case $1 in
    --may-end) may_end=1 ;;
    --lines) lines=(-l) ;;
    *) set -- ;;
  esac
  shift $(($# > 0))
done
[[ $# -gt 0 ]] || { echo "usage: student_symbols.sh [--may-end] [--lines] OBJECT_OR_ARCHIVE..."; exit 2; }
for file; do [[ -r $file ]] || { echo "$file: cannot be read"; exit 2; }; done
errors=$(nm -u "$@" 2>&1 >/dev/null) || { echo "these files cannot be read: $errors"; exit 2; }

# No other characters in a name: g++ hands them to the assembler, which may take what follows a line break as its own.
# The type of clang's table of addresses has no name in every readelf.
section_types='(NULL|PROGBITS|NOBITS|STRTAB|SYMTAB|RELA?|NOTE|GROUP|INIT_ARRAY|FINI_ARRAY|X86_64_UNWIND|LLVM_ADDRSIG|LOOS\+0xfff4c03|SYMTAB_SHNDX)'
section_names='(\.(text|data|rodata|bss|tdata|tbss|gcc_except_table|note|debug_[a-z]+)([._][A-Za-z0-9_.$-]*)?|\.rela?\.[A-Za-z0-9_.$-]*|\.(init|fini)_array|\.eh_frame|\.comment|\.group|\.(sym|str|shstr)tab|\.symtab_shndx|\.llvm_addrsig)'

c_library() {
  local library
  for library in /lib*/libc.so.6 /lib*/libm.so.6 /lib/*/libc.so.6 /lib/*/libm.so.6; do
    [[ ! -r $library ]] || nm -D --defined-only "$library" | awk '{sub(/@.*/, "", $3); print $3}'
  done
}

# by_name FILE...: offences by the names of symbols. An undefined one is forbidden, listed or unlisted; a defined one must
# not take the place of the C library's.
by_name() {
  awk -v may_end="$may_end" '
    # What is left of a demangled name without parameters, template arguments and return type.
    function bare(name,   done, token, is_data) {
      gsub(/\[abi:[^]]*\]| ?\[clone [^]]*\]/, "", name)
      gsub(/\(anonymous namespace\)/, "{anonymous}", name)
      # The signs of an operator are no brackets.
      while (match(name, /operator(\(\)|<=>|<<=|>>=|<<|>>|<=|>=|->\*|->|<|>)/)) {
        token = substr(name, RSTART, RLENGTH)
        gsub(/</, "\001", token); gsub(/>/, "\002", token); gsub(/\(\)/, "\003", token)
        done = done substr(name, 1, RSTART - 1) token
        name = substr(name, RSTART + RLENGTH)
      }
      name = done name
      is_data = sub(/^(vtable|VTT|construction vtable|typeinfo|typeinfo name|guard variable|TLS (init|wrapper) function|(non-virtual|virtual) thunk|reference temporary #[0-9]+) (for|to) /, "", name)
      while (gsub(/<[^<>]*>/, "", name)) continue
      while (gsub(/\([^()]*\)/, "", name)) continue
      if (!is_data) {
        while (sub(/( const| volatile| *&+| )$/, "", name)) continue
        if (match(name, /[^ ]*operator[^A-Za-z0-9_].*$/)) name = substr(name, RSTART)
        else sub(/^.* /, "", name)
      }
      gsub(/\001/, "<", name); gsub(/\002/, ">", name); gsub(/\003/, "()", name)
      return name
    }
    function is_listed(name,   i) {
      for (i = num_allowed; i > 0; --i)
        if (name ~ allowed[i]) return is_granted[i]
      return 0
    }
    # Sets verdict[symbol], empty if it may be used, and advice[symbol].
    function judge(symbol,   i, name) {
      verdict[symbol] = advice[symbol] = ""
      for (i = 1; i <= num_forbidden; ++i) {
        if (symbol !~ forbidden[i]) continue
        verdict[symbol] = (is_noted[i] ? "noted: " : "forbidden: ") symbol
        advice[symbol] = "; use instead: " hint[i]
        return
      }
      name = bare(symbol)
      if (name == "") name = symbol
      if (!(symbol in defined) && !is_listed(name)) verdict[symbol] = "unlisted: " name
    }
    (list == "forbidden" || list == "allowed") && /^(#|$)/ {next}
    list == "forbidden" && /^\[/ {
      skipped = /^\[end\]/ && may_end
      noted = /^\[noted\]/
      use = $0; sub(/^[^ ]* /, "", use)
      next
    }
    list == "forbidden" {
      if (skipped) next
      forbidden[++num_forbidden] = "^(" $0 ")$"; hint[num_forbidden] = use; is_noted[num_forbidden] = noted
      next
    }
    list == "allowed" {
      is_granted[++num_allowed] = !sub(/^!/, "")
      allowed[num_allowed] = "^(" $0 ")$"
      next
    }
    list == "library" {in_library[$0]; next}
    list == "definitions" && match($0, /:[0-9a-f]+ [A-Za-z] /) {
      symbol = substr($0, RSTART + RLENGTH)
      defined[symbol]
      if (symbol in in_library)
        print substr($0, 1, RSTART - 1) ": forbidden: takes the place of the C library\047s " symbol \
          "; use instead: another name"
      # Not those that are given a place (", void*"), which are in a header.
      if (symbol ~ /^operator (new|delete)(\[\])?\([a-z *]*(, (unsigned long|std::[a-z_]*( const&)?))*\)$/)
        print substr($0, 1, RSTART - 1) ": forbidden: takes the place of the C++ library\047s " symbol \
          "; use instead: that of a class"
      next
    }
    list == "uses" && match($0, /: +[UwvWV] /) {
      file = substr($0, 1, RSTART - 1)
      symbol = substr($0, RSTART + RLENGTH)
      sub(/@.*$/, "", symbol)
      place = ""
      if (match(symbol, /\t.*$/)) {
        place = substr(symbol, RSTART + 1)
        symbol = substr(symbol, 1, RSTART - 1)
        place = place ~ /\/student\// ? " at " place : ""
      }
      if (!(symbol in verdict)) judge(symbol)
      if (verdict[symbol] != "") print file ": " verdict[symbol] place advice[symbol]
    }' list=forbidden "$rules/forbidden_symbols.txt" list=allowed "$rules/allowed_symbols.txt" \
    list=library <(c_library) list=definitions <(nm -A -C --defined-only --extern-only "$@") \
    list=uses <(nm -A -C -u "${lines[@]}" "$@" 2>/dev/null)  # what it cannot read of line numbers only loses these
}

# What has no symbol. Each prints a line for each offence in FILE...; all files are searched at once first, since they
# rarely have any.
system_calls() {
  local file files=()
  for file; do ! may_call_system "$file" || files+=("$file"); done
  [[ ${#files[@]} != 0 ]] || return 0
  objdump -d --no-show-raw-insn "${files[@]}" | grep -E '^ *[0-9a-f]+:\s+(syscall|sysenter|svc\s|int +\$0x80)' |
    tr -s '\t ' ' '
}
# may_call_system FILE: whether it must be disassembled to know, which takes seconds: not if it is an object for x86-64 and
# none of its code sections has the two bytes of such an instruction.
may_call_system() {
  [[ $(uname -m) == x86_64 && $(head -c 4 -- "$1") == $'\x7fELF' ]] || return 0
  {
    grep -obaFe $'\x0f\x05' -e $'\x0f\x34' -e $'\xcd\x80' -- "$1" | sed 's/:.*/ is the offset of a match/'
    readelf -SW "$1" |
      sed -nE 's/^ *\[ *[0-9]+\] .* [0-9a-f]{16} ([0-9a-f]{6,}) ([0-9a-f]{6,}) [0-9a-f]{2} +[A-Za-z]*X.*$/\1 \2/p'
  } | awk '
    function decimal(hex,   i, value) {
      for (i = 1; i <= length(hex); ++i) value = 16 * value + index("0123456789abcdef", substr(hex, i, 1)) - 1
      return value
    }
    / is / {match_at[++num_matches] = $1; next}
    {
      first = decimal($1); end = first + decimal($2)
      for (i = 1; i <= num_matches; ++i) if (match_at[i] >= first && match_at[i] < end) found = 1
    }
    END {exit !found}'
}
strange_sections() {
  readelf -SW "$@" |
    sed -nE 's/^ *\[ *[0-9]+\] (.*[^ ]) +([^ ]+) +[0-9a-f]{8,16} [0-9a-f]{6,} [0-9a-f]{6,} [0-9a-f]{2} .*$/of type \2: \1/p' |
    grep -vE "^of type $section_types: $section_names\$"
}
resolvers() { readelf -sW "$@" | awk '$4 == "IFUNC" && $7 != "UND" {print $8}'; }

# by_search SEARCH WHAT HINT FILE...
by_search() {
  local file found
  [[ $("$1" "${@:4}") ]] || return 0
  for file in "${@:4}"; do
    while IFS= read -r found; do echo "$file: forbidden: $2 $found; use instead: $3"; done < <("$1" "$file")
  done
}

offences=$({
  by_name "$@" &&
    by_search system_calls "a system call in machine code:" "functions of the C++ library" "$@" &&
    by_search strange_sections "a section" "plain C++, without attributes or assembler" "$@" &&
    by_search resolvers "a function chosen when the program is loaded:" "a function that chooses when it is called" "$@"
} | sort -u) || { echo "the audit itself failed"; exit 2; }
[[ ! $offences ]] || printf '%s\n' "$offences"
num_forbidden=$(grep -c ': forbidden: ' <<<"$offences")
num_unlisted=$(grep -c ': unlisted: ' <<<"$offences")
echo "$num_forbidden symbols that student code must not use, and $num_unlisted that somebody has to look at"
[[ $num_forbidden == 0 ]] || exit 1
[[ $num_unlisted == 0 ]] || exit 3
