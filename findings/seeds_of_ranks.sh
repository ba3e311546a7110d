#!/usr/bin/env bash
# Seeds of ranks that differ only above bit 31 give the same random numbers on the CPU.
#
# Guess     torch.manual_seed() and Generator.manual_seed() take 64 bits, so base + (rank << 32) gives each rank numbers of
#           its own, on every device and for every function that draws.
# Truth     The CPU's generator is a Mersenne Twister that is initialised from the seed's low 32 bits: with seeds 5 and
#           5 + 2**32, rand, randn, randperm and dropout are equal to the last bit, while initial_seed() returns the
#           64 bits that were given, so printing the seeds does not show it. 2**31 apart they differ.
# Version   PyTorch 1.13.1 as Debian 12 has it (python3-torch 1.13.1+dfsg-4)
# Source    ATen's MT19937 engine: its state is made from a 32-bit integer, and the constructor that takes 64 bits keeps
#           the lower half; torch.manual_seed's documentation allows any 64-bit integer.
# Remedy    base + rank, or a hash of both, never a shift into the upper half.
# Needs     Debian 12's archive among apt's sources; everything goes into a temporary folder.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
mkdir -p "$folder"/{cache/archives/partial,root}
touch "$folder/status"
apt-get -qq -y --no-install-recommends -d -o Dir::State::status="$folder/status" -o Dir::Cache="$folder/cache" \
  -o Debug::NoLocking=1 -o APT::Sandbox::User=root install python3-torch=1.13.1+dfsg-4 >"$folder/log" 2>&1 ||
  { tail -n 5 "$folder/log" >&2; exit 2; }
for package in "$folder"/cache/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
cat >"$folder/seeds.py" <<'PY'
import torch

def draws(seed):
    torch.manual_seed(seed)
    return [torch.rand(4), torch.randn(4), torch.randperm(50), torch.nn.functional.dropout(torch.ones(64))]

def equal(a, b):
    return all(torch.equal(x, y) for x, y in zip(draws(a), draws(b)))

print("version", torch.__version__.split("+")[0])
for shift in (1, 31, 32, 40, 63):
    print("seeds 5 and 5 + 2**%d: same numbers %s" % (shift, equal(5, 5 + 2**shift)))
ranks = [torch.Generator().manual_seed(42 + (rank << 32)) for rank in range(4)]
print("ranks that were told apart by rank << 32: %d different streams of 4" % len({float(torch.rand(1, generator=g)) for g in ranks}))
print("their initial_seed(): %d different" % len({g.initial_seed() for g in ranks}))
PY
libraries=$folder/root/usr/lib/x86_64-linux-gnu
PYTHONHOME=$folder/root/usr PYTHONPATH=$folder/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
  "$folder/root/lib64/ld-linux-x86-64.so.2" --library-path "$libraries:$folder/root/usr/lib:$libraries/blas:$libraries/lapack:$folder/root/lib/x86_64-linux-gnu" \
  "$folder/root/usr/bin/python3.11" -W ignore "$folder/seeds.py" 2>"$folder/errors" | tee "$folder/output" || { tail -n 5 "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 1.13.0a0
seeds 5 and 5 + 2**1: same numbers False
seeds 5 and 5 + 2**31: same numbers False
seeds 5 and 5 + 2**32: same numbers True
seeds 5 and 5 + 2**40: same numbers True
seeds 5 and 5 + 2**63: same numbers True
ranks that were told apart by rank << 32: 1 different streams of 4
their initial_seed(): 4 different
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
