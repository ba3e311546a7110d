#!/usr/bin/env bash
# PyTorch's FLOP counter counts nothing for attention on a CPU.
#
# Guess     FlopCounterMode counts scaled_dot_product_attention as its two products, on every device.
# Truth     On the CPU the operator becomes one fused kernel for which the counter has no formula: 0, forward and
#           backward, with a mask and with is_causal; the same products written out are counted. MultiheadAttention
#           counts its projections only, if no weights are asked for, and nothing at all in eval mode, where it is one
#           fused operator.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7)
# Source    torch.utils.flop_counter's registry of formulas names the GPU's attention kernels; an operator that is not
#           in it counts 0.
# Remedy    count with torch.nn.attention.sdpa_kernel(SDPBackend.MATH), or add the two products by hand.
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
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as attention
from torch.utils.flop_counter import FlopCounterMode

def flops(function):
    with FlopCounterMode(display=False) as counter:
        function()
    return counter.get_total_flops()

print("version", torch.__version__.split("+")[0])
q, k, v = (torch.randn(1, 2, 16, 8) for _ in range(3))  # 2 heads, 16 tokens, 8 wide: 2 * 2 * 2 * 16 * 16 * 8 = 16384
print("written out:", flops(lambda: torch.softmax(q @ k.transpose(-1, -2) / 8**0.5, -1) @ v))
print("scaled_dot_product_attention:", flops(lambda: attention(q, k, v)))
print("... with a mask:", flops(lambda: attention(q, k, v, attn_mask=torch.zeros(16, 16))))
print("... causal:", flops(lambda: attention(q, k, v, is_causal=True)))
a, b, c = (x.clone().requires_grad_() for x in (q, k, v))
print("... forward and backward:", flops(lambda: attention(a, b, c).sum().backward()))
with sdpa_kernel(SDPBackend.MATH):
    print("... by the backend MATH:", flops(lambda: attention(q, k, v)))
layer, x = torch.nn.MultiheadAttention(16, 2, batch_first=True), torch.randn(1, 16, 16)
print("MultiheadAttention with weights:", flops(lambda: layer(x, x, x)))
print("... without weights:", flops(lambda: layer(x, x, x, need_weights=False)))
layer.eval()
with torch.no_grad():
    print("... in eval mode:", flops(lambda: layer(x, x, x)))
PY
libraries=$folder/root/usr/lib/x86_64-linux-gnu
PYTHONHOME=$folder/root/usr PYTHONPATH=$folder/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
  timeout 300 "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$folder/root/usr/lib:$libraries/blas:$libraries/lapack" \
  "$folder/root/usr/bin/python3.13" -W ignore "$folder/try.py" 2>"$folder/errors" |
  tee "$folder/output" || { tail -n 5 "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 2.6.0
written out: 16384
scaled_dot_product_attention: 0
... with a mask: 0
... causal: 0
... forward and backward: 0
... by the backend MATH: 16384
MultiheadAttention with weights: 49152
... without weights: 32768
... in eval mode: 0
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
