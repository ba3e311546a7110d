#!/usr/bin/env bash
# Reduce-scatter on Gloo is a sum, whatever operation is asked for.
#
# Guess     reduce_scatter_tensor(op=...) on Gloo computes that operation, or refuses it as all_reduce refuses AVG.
# Truth     It returns the sum for AVG, MAX and PRODUCT as well, without an error. all_reduce of the same ranks computes
#           MAX and PRODUCT, and refuses AVG. The form with a list of tensors is refused for every operation.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7)
# Source    c10d's Gloo backend has no reduce-scatter of its own in 2.6: it reduces a copy of all chunks and keeps one
#           of them. torch.distributed's documentation lists no reduce-scatter for Gloo.
# Remedy    all_reduce with the operation, then this rank's chunk; or the sum, divided by the number of ranks.
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

show("version", torch.__version__.split("+")[0])
x = torch.tensor([1.0, 2.0, 3.0, 4.0]) * (rank + 2)
for name in ("SUM", "AVG", "MAX", "PRODUCT"):
    operation, chunk, whole = getattr(dist.ReduceOp, name), torch.empty(2), x.clone()
    dist.reduce_scatter_tensor(chunk, x.clone(), op=operation)
    try:
        dist.all_reduce(whole, op=operation)
        expected = whole.chunk(2)[rank].tolist()
    except RuntimeError as error:
        expected = str(error)
    show("%s: reduce_scatter_tensor %s, all_reduce %s" % (name, chunk.tolist(), expected))
try:
    dist.reduce_scatter(torch.empty(2), list(x.chunk(2)))
except RuntimeError as error:
    show("reduce_scatter:", str(error).splitlines()[0])

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
SUM: reduce_scatter_tensor [15.0, 20.0], all_reduce [15.0, 20.0]
AVG: reduce_scatter_tensor [15.0, 20.0], all_reduce Cannot use ReduceOp.AVG with Gloo
MAX: reduce_scatter_tensor [15.0, 20.0], all_reduce [9.0, 12.0]
PRODUCT: reduce_scatter_tensor [15.0, 20.0], all_reduce [54.0, 96.0]
reduce_scatter: ProcessGroupGloo does not support reduce_scatter
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
