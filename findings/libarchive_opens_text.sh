#!/usr/bin/env bash
# libarchive opens some plain text as an archive: a list of "name key=value", an empty file, a mail with a uuencoded tar.
#
# Guess     With all formats and filters supported, a file that holds no archive is refused with "Unrecognized archive format".
# Truth     Lines such as "run.log type=file size=10" are an archive in the format mtree, though its signature is not there: its
#           entries have names and sizes, and no data. An empty file is an archive without entries. A text in which a tar is
#           uuencoded somewhere is that tar. Prose and "loss=1" are refused; of two tars after each other the first is read.
# Version   libarchive 3.6.2 as Debian 12 has it
# Source    mtree's bid takes a text whose first lines are names with its keywords; the format "empty" is among all formats, and
#           uu among all filters, which skips the lines before "begin".
# Remedy    Enable only the formats and filters that are wanted (tar, zip, 7zip; gzip, xz), each with its own function.
# Needs     Debian 12 with gcc and its archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
packages=(libarchive13=3.6.2-1+deb12u5)
headers=(libarchive-dev=3.6.2-1+deb12u5) # without what they depend on
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
root=$folder/root
mkdir -p "$folder/cache/archives/partial" "$root"/usr/{bin,sbin,lib,lib64} "$root"/{dev,proc,sys,tmp}
for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
touch "$folder/status"
apt=(apt-get -qq -y -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
"${apt[@]}" --no-install-recommends -d install "${packages[@]}" >"$folder/log" 2>&1 ||
  { echo "cannot get ${packages[*]}:"; tail -n 5 "$folder/log"; exit 2; } >&2
(cd "$folder/cache/archives" && "${apt[@]}" download "${headers[@]}") >"$folder/log" 2>&1 ||
  { echo "cannot get ${headers[*]}:"; tail -n 5 "$folder/log"; exit 2; } >&2
for package in "$folder"/cache/archives/*.deb; do
  dpkg --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$root"
done
inside() { # COMMAND...: runs it in the unpacked root, with nothing of this machine's but the kernel
  unshare --map-root-user --mount bash -c 'mount --rbind /dev "$0/dev" && mount --rbind /proc "$0/proc" && mount --rbind /sys "$0/sys" &&
    exec env -i HOME=/tmp PATH=/usr/bin:/usr/sbin:/sbin chroot "$0" "$@"' "$root" "$@"
}
cat >"$root/tmp/list.c" <<'C'
#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>

int main(int count, char **files) {
  printf("version %s\n", archive_version_string());
  for (int i = 1; i < count; ++i) {
    struct archive *archive = archive_read_new();
    struct archive_entry *entry;
    char data[100];
    archive_read_support_filter_all(archive);
    archive_read_support_format_all(archive);
    printf("%s:", files[i]);
    int status = archive_read_open_filename(archive, files[i], 10240);
    if (status != ARCHIVE_OK) printf(" %s", archive_error_string(archive));
    while (status == ARCHIVE_OK && (status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK) {
      long got = archive_read_data(archive, data, sizeof data);
      printf(" [%s, size %d, data %ld]", archive_entry_pathname(entry), (int)archive_entry_size(entry), got);
    }
    if (status == ARCHIVE_EOF) printf(" %s", archive_format_name(archive));
    printf("\n");
    archive_read_free(archive);
  }
}
C
gcc -O1 -w -isystem "$root/usr/include" -o "$root/tmp/list" "$root/tmp/list.c" "$root"/usr/lib/x86_64-linux-gnu/libarchive.so.13 \
  -Wl,--unresolved-symbols=ignore-in-shared-libs || exit 2
(
  cd "$root/tmp"
  printf 'results loss=1\n' >loss.txt
  printf 'Dear all,\nhere are my results.\n' >prose.txt
  printf 'run.log type=file size=10 mode=644\nrun.err type=file size=3 mode=600\n' >files.txt
  : >empty.txt
  printf 'hello' >hello
  tar --format=ustar -cf one.tar hello
  cp hello hello2
  tar --format=ustar -cf two.tar hello2
  cat one.tar two.tar >both.tar
  { printf 'Dear all,\nhere is my tar.\n\nbegin 644 one.tar\n'; perl -e 'local $/; print pack("u", <STDIN>), "`\nend\n"' <one.tar; } >mail.txt
)
inside /tmp/list /tmp/loss.txt /tmp/prose.txt /tmp/files.txt /tmp/empty.txt /tmp/mail.txt /tmp/both.tar | sed 's#/tmp/##g' | tee "$folder/output"
cat >"$folder/expected" <<'END'
version libarchive 3.6.2
loss.txt: Unrecognized archive format
prose.txt: Unrecognized archive format
files.txt: [run.log, size 10, data 0] [run.err, size 3, data 0] mtree
empty.txt: Empty file
mail.txt: [hello, size 5, data 5] POSIX ustar format
both.tar: [hello, size 5, data 5] POSIX ustar format
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
