#!/usr/bin/env bash
# Ranks that disagree about shape, dtype, size or operation get numbers from Gloo, not an error.
#
# Guess     A collective whose ranks pass different shapes, dtypes or operations raises an error on each of them.
# Truth     Only bytes are compared, and only in one direction. Equal bytes of another shape or dtype are taken as they
#           are, also in a sum; a message shorter than its receive fills the beginning and leaves the rest as it was; of
#           two operations, each is used for half of the elements. Without a script: other mismatches end
#           a process by an uncaught C++ exception, or leave it waiting until its time-out.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7)
# Source    Gloo's messages carry a length, and no dtype, shape or operation; c10d's Gloo backend compares the tensors
#           of one rank with each other, not those of the ranks.
# Remedy    TORCH_DISTRIBUTED_DEBUG=DETAIL makes torch.distributed compare them, at the price of messages of its own.
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

def exchange(x):
    dist.send(x, 1) if rank == 0 else dist.recv(x, 0)
    return x.tolist()

show("version", torch.__version__.split("+")[0])
show("shape [2, 3] received as [3, 2]:", exchange(torch.arange(6.0).view(2, 3) if rank == 0 else torch.zeros(3, 2)))
x = torch.tensor([1.0, 2.0]) if rank == 0 else torch.zeros(2, dtype=torch.int32)
show("float32 1, 2 received as int32:", exchange(x))
show("2 elements received as 4:", exchange(torch.ones(2) if rank == 0 else torch.full((4,), 7.0)))
x = torch.tensor([1.0, 2.0]) if rank == 0 else torch.zeros(4)
dist.broadcast(x, 0)
show("2 elements broadcast to 4:", x.tolist())
x = torch.arange(6.0).view(2, 3) if rank == 0 else torch.arange(6.0).view(3, 2)
dist.all_reduce(x)
show("all-reduce of [2, 3] and [3, 2]:", x.tolist())
x = torch.tensor([1.0, 2.0]) if rank == 0 else torch.tensor([1, 2], dtype=torch.int32)
dist.all_reduce(x)
show("all-reduce of float32 1, 2 and int32 1, 2:", x.tolist())
x = torch.full((4,), rank + 1.0)
dist.all_reduce(x, op=dist.ReduceOp.SUM if rank == 0 else dist.ReduceOp.MAX)
show("all-reduce of 1 by SUM and 2 by MAX:", x.tolist())
try:
    dist.all_gather([torch.zeros(2), torch.zeros(4)], torch.ones(2 + 2 * rank))
except RuntimeError as error:
    show("all_gather of 2 and 4 elements into tensors of these sizes:", str(error).split(": ", 1)[1])

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
shape [2, 3] received as [3, 2]: [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
float32 1, 2 received as int32: [1065353216, 1073741824]
2 elements received as 4: [1.0, 1.0, 7.0, 7.0]
2 elements broadcast to 4: [1.0, 2.0, 0.0, 0.0]
all-reduce of [2, 3] and [3, 2]: [[0.0, 2.0], [4.0, 6.0], [8.0, 10.0]]
all-reduce of float32 1, 2 and int32 1, 2: [1065353216, 1073741824]
all-reduce of 1 by SUM and 2 by MAX: [3.0, 3.0, 2.0, 2.0]
all_gather of 2 and 4 elements into tensors of these sizes: invalid tensor size at index 0 (expected (4), got (2))
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
