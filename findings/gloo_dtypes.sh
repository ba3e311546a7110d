#!/usr/bin/env bash
# Which dtypes Gloo takes depends on the operation, and int16 is in none but send.
#
# Guess     What can be sent can be broadcast and gathered, since bytes are copied; sums take every number type of the
#           CPU.
# Truth     send and recv take every dtype. Everything else refuses int16, the unsigned types above 8 bits and float8.
#           complex64 can be all-reduced, all-gathered, scattered and exchanged, but not broadcast, reduced to one rank
#           or gathered by one. bool takes part in sums.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7)
# Source    c10d's Gloo backend picks one of eight C++ types by dtype, views complex tensors as real ones in some
#           operations only, and sends bytes in point-to-point messages.
# Remedy    view the tensor as a dtype of the same size that is taken, where bytes are copied; widen it, where they are
#           added.
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

dtypes = "float64 float32 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 float8_e4m3fn uint16".split()
operations = {
    "send": lambda x: dist.send(x, 1) if rank == 0 else dist.recv(x, 0),
    "broadcast": lambda x: dist.broadcast(x, 0),
    "all_reduce": lambda x: dist.all_reduce(x),
    "reduce": lambda x: dist.reduce(x, 0),
    "all_gather": lambda x: dist.all_gather([torch.empty_like(x), torch.empty_like(x)], x),
    "gather": lambda x: dist.gather(x, [torch.empty_like(x), torch.empty_like(x)] if rank == 0 else None, 0),
    "scatter": lambda x: dist.scatter(x, [x.clone(), x.clone()] if rank == 0 else None, 0),
    "reduce_scatter_tensor": lambda x: dist.reduce_scatter_tensor(torch.empty(1, dtype=x.dtype), x),
    "all_to_all_single": lambda x: dist.all_to_all_single(torch.empty_like(x), x),
}
show("version", torch.__version__.split("+")[0])
for name, operation in operations.items():
    refused = []
    for dtype in dtypes:
        try:
            operation(torch.ones(2).to(getattr(torch, dtype)))
        except RuntimeError:
            refused.append(dtype)
    show("%s refuses: %s" % (name, " ".join(refused) or "none"))

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
send refuses: none
broadcast refuses: int16 complex64 float8_e4m3fn uint16
all_reduce refuses: int16 float8_e4m3fn uint16
reduce refuses: int16 complex64 float8_e4m3fn uint16
all_gather refuses: int16 float8_e4m3fn uint16
gather refuses: int16 complex64 float8_e4m3fn uint16
scatter refuses: int16 float8_e4m3fn uint16
reduce_scatter_tensor refuses: int16 complex64 float8_e4m3fn uint16
all_to_all_single refuses: int16 float8_e4m3fn uint16
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
