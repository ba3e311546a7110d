#!/usr/bin/env bash
# Compiled student code must not reach around its interface: no transport or process group of a library, no network, no
# shared memory, no processes or threads of its own, nothing loaded or looked up at run time. The poisoned header stops
# names; this detects what names do not show: asm labels, own declarations, system calls in machine code, sections that
# tell the linker what to do, and what runs before or in place of the suite's own code.
# Prints each offender. --may-end: the code may end its process, which only harms itself where it is judged.
# usage: student_symbols.sh [--may-end] OBJECT_OR_ARCHIVE...
set -uo pipefail
may_end=
if [[ ${1:-} == --may-end ]]; then may_end=1; shift; fi
[[ $# -gt 0 ]] || { echo "usage: student_symbols.sh [--may-end] OBJECT_OR_ARCHIVE..."; exit 2; }

loading='dlopen|dlmopen|dlsym|dlvsym|dladdr|dl_iterate_phdr|__libc_dl.*'
network='socket|socketpair|connect|bind|listen|accept4?|(send|recv)(to|from|msg|mmsg)?|getaddrinfo'
processes='fork|vfork|_Fork|__(libc_)?fork|clone3?|__clone2?|unshare|setns|daemon|forkpty|setsid|setpgid|setpgrp|exec[lv]p?e?|execveat|fexecve|posix_spawnp?|system|popen|wordexp'
signals='ptrace|kill|killpg|tgkill|sigqueue|pidfd_[a-z_]+'
[[ $may_end ]] || signals+='|raise|_?[eE]xit|quick_exit|abort'
threads='pthread_create|thrd_create|std::thread::.*'
memory='mmap(64)?|mremap|shm_open|shmget|shmat|memfd_create|process_vm_(readv|writev)|at::from_file.*'
pipes='pipe2?|mkfifo(at)?|sem_open|mq_open'
calls='syscall|__syscall.*'
functions="^($loading|$network|$processes|$signals|$threads|$memory|$pipes|$calls)$"
libraries='(^|[^[:alnum:]_])(c10d|gloo)(::|$)'
section_types='(NULL|PROGBITS|NOBITS|STRTAB|SYMTAB|RELA?|NOTE|GROUP|INIT_ARRAY|FINI_ARRAY|X86_64_UNWIND|LLVM_ADDRSIG|SYMTAB_SHNDX)'
section_names='(\.(text|data|rodata|bss|tdata|tbss|gcc_except_table|note|debug_[a-z]+)([._].*)?|\.rela?\..*|\.(init|fini)_array|\.eh_frame|\.comment|\.group|\.(sym|str|shstr)tab|\.symtab_shndx|\.llvm_addrsig)'
c_library=$(for library in /lib*/libc.so.6 /lib*/libm.so.6 /lib/*/libc.so.6 /lib/*/libm.so.6; do
  [[ ! -r $library ]] || nm -D --defined-only "$library" | awk '{sub(/@.*/, "", $3); print $3}'
done | sort -u)
insides='(^|[^[:alnum:]_])lab::comm::(Endpoint|Ledger|Transport|ProcessWorld|ThreadWorld|RelayWorld|BatchIsendIrecv|MessageCollectives)::'
ways_inside='(^|[^[:alnum:]_])lab::(comm::endpoint_of|rank_seat)\('

offenders=0
for file in "$@"; do
  [[ -r $file ]] || { echo "$file: cannot be read"; exit 2; }
  while IFS= read -r line; do
    symbol=$(sed -E 's/^.*: +[UwWvV] //; s/@.*$//' <<<"$line")
    if [[ $symbol =~ $functions || $symbol =~ $libraries || $symbol =~ $insides || $symbol =~ $ways_inside ]]; then
      echo "${line%%: *}: $symbol"
      offenders=$((offenders + 1))
    fi
  done < <(nm -A -u -C "$file" | grep -E ': +[UwvWV] ' | sort -u)
  while IFS= read -r line; do
    echo "$file: a system call in machine code: $line"
    offenders=$((offenders + 1))
  done < <(objdump -d --no-show-raw-insn "$file" | grep -E '^ *[0-9a-f]+:\s+(syscall|sysenter|svc\s|int +\$0x80)' | tr -s '\t ' ' ')
  while IFS= read -r section; do
    echo "$file: a section $section"
    offenders=$((offenders + 1))
  done < <(readelf -SW "$file" |
    sed -nE 's/^ *\[ *[0-9]+\] (.*[^ ]) +([^ ]+) +[0-9a-f]{8,16} [0-9a-f]{6,} [0-9a-f]{6,} [0-9a-f]{2} .*$/of type \2: \1/p' |
    grep -vE "^of type $section_types: $section_names\$" | sort -u)
  while IFS= read -r symbol; do
    echo "$file: a function chosen when the program is loaded: $symbol"
    offenders=$((offenders + 1))
  done < <(readelf -sW "$file" | awk '$4 == "IFUNC" && $7 != "UND" {print $8}')
  while IFS= read -r symbol; do
    echo "$file: takes the place of the C library's $symbol"
    offenders=$((offenders + 1))
  done < <(comm -12 <(nm --defined-only --extern-only "$file" | awk 'NF == 3 {print $3}' | sort -u) \
    <(printf '%s' "$c_library"))
done
echo "$offenders symbols that student code must not use"
[[ $offenders == 0 ]]
