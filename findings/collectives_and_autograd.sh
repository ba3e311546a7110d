#!/usr/bin/env bash
# Autograd does not see collectives that write into a tensor: gradients are wrong without an error.
#
# Guess     An in-place collective on a tensor that needs a gradient is refused, or takes part in backward(), as add_()
#           does.
# Truth     all_reduce and broadcast overwrite results and even leaves, without an entry in the graph and without
#           raising the tensor's version. A gradient that reuses the overwritten value, as that of exp does, uses the
#           new one: here 2e in place of e. 2.6 warns in backward(), and goes on. torch.distributed.nn.all_reduce is
#           differentiable, and sums gradients over the ranks: right for a loss that is the sum of the ranks' losses,
#           and P times too large for one that every rank computes alike.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7)
# Source    c10d's operators are registered for the CPU without a formula for autograd, and write behind its back;
#           PyTorch's notes on autograd say that an in-place change raises the version that backward() compares.
# Remedy    an autograd function around the collective: identity forward and all-reduce backward, or the reverse.
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
import os, sys, torch, torch.distributed as dist

rank = 1 if os.fork() else 0  # two ranks, of which rank 1 prints
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)

def show(*words):
    if rank == 1: print(*words)

import warnings
import torch.distributed.nn

warnings.simplefilter("always")
show("version", torch.__version__.split("+")[0])
w = torch.tensor([1.0], requires_grad=True)
y = w.exp()
dist.all_reduce(y)
with warnings.catch_warnings(record=True) as caught:
    y.sum().backward()
show("exp, all_reduce: version %d, gradient %.4f, by the formula %.4f" % (y._version, w.grad, w.exp()))
warned = any("autograd kernel was not registered" in str(warning.message) for warning in caught)
show("warned of an autograd kernel that is not registered:", warned)
w = torch.tensor([1.0], requires_grad=True)
y = w.exp()
try:
    y.add_(1).sum().backward()
except RuntimeError as error:
    show("exp, add_:", str(error).split(": ")[0])
w = torch.tensor([1.0], requires_grad=True)
dist.all_reduce(w)
show("all_reduce of a leaf that needs a gradient:", w.tolist())
try:
    w.add_(1)
except RuntimeError as error:
    show("add_ to one:", str(error))
w = torch.tensor([1.0], requires_grad=True)
torch.distributed.nn.all_reduce(w * (rank + 1)).sum().backward()
show("distributed.nn.all_reduce of w, 2 w: gradient on rank 1: %g" % w.grad)

if rank == 0: os._exit(0)
os.wait()
PY
libraries=$folder/root/usr/lib/x86_64-linux-gnu
GLOO_SOCKET_IFNAME=lo \
  PYTHONHOME=$folder/root/usr PYTHONPATH=$folder/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
  timeout 300 "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$folder/root/usr/lib:$libraries/blas:$libraries/lapack" \
  "$folder/root/usr/bin/python3.13" -W ignore "$folder/try.py" "$folder/store" 2>"$folder/errors" |
  tee "$folder/output" || { tail -n 5 "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 2.6.0
exp, all_reduce: version 0, gradient 5.4366, by the formula 2.7183
warned of an autograd kernel that is not registered: True
exp, add_: one of the variables needed for gradient computation has been modified by an inplace operation
all_reduce of a leaf that needs a gradient: [2.0]
add_ to one: a leaf Variable that requires grad is being used in an in-place operation.
distributed.nn.all_reduce of w, 2 w: gradient on rank 1: 4
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
