#!/usr/bin/env bash
# norm() of a long tensor on a CPU is off by percents, each part's by others, while sum() is right to seven digits.
#
# Guess     A norm is a sum of squares, as exact as sum(), whose partial sums keep 1e8 additions of float32 right to 1e-6: so
#           the norm of all gradients is the same, to some digits, from the whole, from the parts on ranks, and from float64.
# Truth     For 1e8 float32 of 0.1, norm() and clip_grad_norm_() are 4 % too small; the norm of four quarters' norms, as ranks
#           with a quarter each combine them, is 1 % too small; of normal random numbers it is off by 1.1 and 0.1 %. The
#           1-norm of 1e7 is 9 % too large. The root of square().sum() is right, and so is norm() of rows.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7); 1.13.1 of Debian 12 gives the same; both with AVX2,
#           with AVX-512 and without
# Source    ATen's ReduceOpsKernel.cpp: the norm of a contiguous tensor adds one element after the other into a few
#           accumulators of float32. sum() adds in a cascade.
# Remedy    linalg.vector_norm(x, dtype=torch.float64), or norms of rows first; needed wherever P ranks clip gradients by
#           their common norm and are compared with one.
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

def show(what, value, exact): print("%s: off by %.1f %%" % (what, abs(100 * (value.item() / exact - 1))))

def norms(x, exact):
    show("norm()", x.norm(), exact)
    show("norm of 4 parts' norms", torch.stack([part.norm() for part in x.chunk(4)]).norm(), exact)
    show("norm of 10,000 rows' norms", x.view(10000, -1).norm(dim=1).norm(), exact)
    show("square().sum().sqrt()", x.square().sum().sqrt(), exact)
    show("norm(dtype=float64)", torch.linalg.vector_norm(x, dtype=torch.float64), exact)

print("version", torch.__version__.split("+")[0])
torch.set_num_threads(1)
print("1e8 times 0.1")
x = torch.full((100_000_000,), 0.1)
tenth = x[0].double().item()
norms(x, tenth * 1e4)
weight = torch.nn.Parameter(x)
weight.grad = x
show("clip_grad_norm_()", torch.nn.utils.clip_grad_norm_([weight], 1e9), tenth * 1e4)
show("1-norm of the first 1e7", x[:10_000_000].norm(1), tenth * 1e7)
show("sum of the first 1e7", x[:10_000_000].sum(), tenth * 1e7)
print("1e8 normal random numbers")
x = torch.randn(100_000_000, generator=torch.Generator().manual_seed(0))
norms(x, x.double().square().sum().sqrt().item())
PY
libraries=$folder/root/usr/lib/x86_64-linux-gnu
PYTHONHOME=$folder/root/usr PYTHONPATH=$folder/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
  timeout 300 "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$folder/root/usr/lib:$libraries/blas:$libraries/lapack" \
  "$folder/root/usr/bin/python3.13" -W ignore "$folder/try.py" 2>"$folder/errors" |
  tee "$folder/output" || { tail -n 5 "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 2.6.0
1e8 times 0.1
norm(): off by 4.0 %
norm of 4 parts' norms: off by 1.0 %
norm of 10,000 rows' norms: off by 0.0 %
square().sum().sqrt(): off by 0.0 %
norm(dtype=float64): off by 0.0 %
clip_grad_norm_(): off by 4.0 %
1-norm of the first 1e7: off by 8.8 %
sum of the first 1e7: off by 0.0 %
1e8 normal random numbers
norm(): off by 1.1 %
norm of 4 parts' norms: off by 0.1 %
norm of 10,000 rows' norms: off by 0.0 %
square().sum().sqrt(): off by 0.0 %
norm(dtype=float64): off by 0.0 %
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
