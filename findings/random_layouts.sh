#!/usr/bin/env bash
# The same seed gives other random numbers in another layout, length or dtype.
#
# Guess     A seed determines the stream of numbers: a tensor drawn in two halves is the tensor drawn at once, and its
#           dtype or layout changes the rounding or the order only.
# Truth     rand() on the CPU draws in the order of memory, so a transposed or channels-last tensor has the same numbers
#           in other places. randn() has one algorithm for contiguous tensors of at least 16 elements, in blocks of 16,
#           and another below that and for all other layouts. So randn(8) twice is not randn(16), randn(20) does not
#           begin with randn(15), and a transposed tensor has none of the contiguous one's numbers. float64 takes other
#           bits from the stream than float32, and so does float16.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7)
# Source    ATen's CPU kernels: normal_() fills 16 values by Box-Muller from 16 uniform ones, and recomputes the last 16
#           where the length is no multiple; documentation promises reproducibility for the same calls only.
# Remedy    draw the whole tensor contiguous, in one dtype, and then cut, transpose and convert it.
# Needs     Debian's archive among apt's sources, and x86-64; everything goes into a temporary folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
mkdir -p "$folder"/{lists/partial,cache/archives/partial,root}
touch "$folder/status"
archive=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | awk '!/security/ && !found++')
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive trixie main" >"$folder/sources.list"
apt=(apt-get -qq -y --no-install-recommends -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=-
  -o Dir::State::Lists="$folder/lists" -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache"
  -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
{ "${apt[@]}" update && "${apt[@]}" -d install python3-torch=2.6.0+dfsg-7; } >"$folder/log" 2>&1 ||
  { echo "cannot have python3-torch=2.6.0+dfsg-7 of trixie:" >&2; tail -n 5 "$folder/log" >&2; exit 2; }
for package in "$folder"/cache/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
cat >"$folder/try.py" <<'PY'
import torch

def drawn(function):
    return function(torch.Generator().manual_seed(7))

def equal(a, b):
    return torch.equal(a.double(), b.double())

print("version", torch.__version__.split("+")[0])
for name in ("rand", "randn"):
    draw = getattr(torch, name)
    whole = lambda n, **options: drawn(lambda g: draw(n, generator=g, **options))
    twice = lambda n: drawn(lambda g: torch.cat([draw(n, generator=g), draw(n, generator=g)]))
    print("%s: 8 twice == 16: %s, 16 twice == 32: %s, 20 twice == 40: %s" %
          (name, equal(twice(8), whole(16)), equal(twice(16), whole(32)), equal(twice(20), whole(40))))
    print("%s(20) begins with %s(15): %s" % (name, name, equal(whole(20)[:15], whole(15))))
    for dtype in (torch.float64, torch.float16):
        print("%s of float32, as %s: %s" % (name, dtype, equal(whole(64).to(dtype), whole(64, dtype=dtype))))
for name in ("uniform_", "normal_"):
    fill = lambda x: drawn(lambda g: getattr(x, name)(generator=g))
    rows, columns = fill(torch.empty(8, 8)), fill(torch.empty(8, 8).t())
    print("%s: rows == columns: %s, transposed: %s, the same 64 numbers: %s" % (name, equal(rows, columns),
          equal(rows, columns.t()), equal(rows.flatten().sort()[0], columns.flatten().sort()[0])))
    plain = fill(torch.empty(1, 4, 4, 4))
    last = fill(torch.empty(1, 4, 4, 4).contiguous(memory_format=torch.channels_last))
    print("%s: channels last == contiguous: %s, in memory's order: %s" %
          (name, equal(plain, last), equal(plain.flatten(), last.permute(0, 2, 3, 1).flatten())))
PY
libraries=$folder/root/usr/lib/x86_64-linux-gnu
PYTHONHOME=$folder/root/usr PYTHONPATH=$folder/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
  timeout 300 "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$folder/root/usr/lib:$libraries/blas:$libraries/lapack" \
  "$folder/root/usr/bin/python3.13" -W ignore "$folder/try.py" 2>"$folder/errors" |
  tee "$folder/output" || { tail -n 5 "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 2.6.0
rand: 8 twice == 16: True, 16 twice == 32: True, 20 twice == 40: True
rand(20) begins with rand(15): True
rand of float32, as torch.float64: False
rand of float32, as torch.float16: False
randn: 8 twice == 16: False, 16 twice == 32: True, 20 twice == 40: False
randn(20) begins with randn(15): False
randn of float32, as torch.float64: False
randn of float32, as torch.float16: False
uniform_: rows == columns: False, transposed: True, the same 64 numbers: True
uniform_: channels last == contiguous: False, in memory's order: True
normal_: rows == columns: False, transposed: False, the same 64 numbers: False
normal_: channels last == contiguous: False, in memory's order: False
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
