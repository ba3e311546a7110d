#!/usr/bin/env bash
# The last bits of a sum and of a convolution depend on threads, or on what else is in the tensor.
#
# Guess     A slice's result is the slice of the result, to the last bit; and the number of threads changes the time
#           alone.
# Truth     sum() of a whole tensor is cut by the number of threads, so three give other bits than one. Columns summed
#           in a slice, or in another layout, are added in another order. (Rows, and functions of single elements, keep
#           their bits.) A convolution of one picture takes another kernel above 20,480 elements of input, so a half of
#           it can differ from half of the whole. GroupNorm of constant channels is not its bias.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7)
# Source    ATen's kernels: a reduction is split over threads, columns are added several at a time, and a 3 x 3
#           convolution of a single picture goes to oneDNN by its number of elements. A norm is x * scale + shift, where
#           without a variance both are as large as 1 / sqrt(eps), and so is their rounding. PyTorch's note on numerical
#           accuracy warns of slices. ATEN_CPU_CAPABILITY=default here, so that the CPU does not matter.
# Remedy    call one kernel for whole and part, such as torch.mkldnn_convolution, or compare with a tolerance.
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

torch.set_num_threads(1)
generator = torch.Generator().manual_seed(0)
x, m = torch.randn(1000003, generator=generator), torch.randn(512, 300, generator=generator)
print("version", torch.__version__.split("+")[0])
one = x.sum()
torch.set_num_threads(3)
print("sum: 1 thread == 3 threads:", torch.equal(one, x.sum()))
torch.set_num_threads(1)
print("columns: sums of a slice == slice of the sums:", torch.equal(m[:, :7].sum(0), m.sum(0)[:7]))
print("rows: sums of a slice == slice of the sums:", torch.equal(m[:7].sum(1), m.sum(1)[:7]))
print("columns: sums stored by rows == stored by columns:", torch.equal(m.t().contiguous().t().sum(0), m.sum(0)))
print("exp: of 7 elements == first 7 of 1,000:", torch.equal(torch.exp(x[:7]), torch.exp(x[:1000])[:7]))

weight = torch.randn(64, 32, 3, 3, generator=generator)
picture = torch.randn(1, 32, 16, 96, generator=generator)
different = []
for width in range(36, 93, 8):
    whole = torch.nn.functional.conv2d(picture[..., :width].contiguous(), weight, padding=1)
    half = torch.nn.functional.conv2d(picture[..., :width // 2 + 1].contiguous(), weight, padding=1)
    if not torch.equal(half[..., :-1], whole[..., :width // 2]): different.append(width)
print("convolution: left half == half of the whole, except at widths", *different)
bias = torch.randn(32, generator=generator)
norm = torch.nn.functional.group_norm(torch.full((1, 32, 8, 8), 1.0), 8, torch.ones(32), bias, 1e-6)
print("group norm of ones == its bias:", torch.equal(norm, bias.view(1, 32, 1, 1).expand_as(norm)))
PY
libraries=$folder/root/usr/lib/x86_64-linux-gnu
ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=AVX2 \
  PYTHONHOME=$folder/root/usr PYTHONPATH=$folder/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
  timeout 300 "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$folder/root/usr/lib:$libraries/blas:$libraries/lapack" \
  "$folder/root/usr/bin/python3.13" -W ignore "$folder/try.py" 2>"$folder/errors" |
  tee "$folder/output" || { tail -n 5 "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 2.6.0
sum: 1 thread == 3 threads: False
columns: sums of a slice == slice of the sums: False
rows: sums of a slice == slice of the sums: True
columns: sums stored by rows == stored by columns: False
exp: of 7 elements == first 7 of 1,000: True
convolution: left half == half of the whole, except at widths 44 52 60 68 76
group norm of ones == its bias: False
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
