#!/usr/bin/env bash
# A step of torch.distributed.pipelining leaves m times the gradient of the batch's mean loss.
#
# Guess     Micro-batches are an implementation detail: with a loss that is a mean, GPipe's step leaves the gradients of
#           the whole batch's loss.
# Truth     Each micro-batch's loss is a mean over that micro-batch, and the gradients of all m are added: every
#           gradient is m times that of the batch. Nothing says so, and SGD then learns at m times the rate; Adam hides
#           it.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7)
# Source    the schedules of 2.6 accumulate each stage's gradients and take no argument that scales them; gradients of
#           one process, computed next to it, are the reference.
# Remedy    divide the loss function by the number of micro-batches, or the gradients after the step.
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
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe

rank = 1 if os.fork() else 0  # two ranks, of which rank 1 prints
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)

def show(*words):
    if rank == 1: print(*words)

def loss(output, target):
    return ((output - target) ** 2).mean()

show("version", torch.__version__.split("+")[0])
for m in (1, 2, 4):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(*(torch.nn.Linear(3, 3, bias=False) for _ in range(2))).double()
    x, target = torch.randn(8, 3).double(), torch.randn(8, 3).double()
    loss(layers(x), target).backward()
    alone = layers[rank].weight.grad.clone()
    layers.zero_grad()
    schedule = ScheduleGPipe(PipelineStage(layers[rank], rank, 2, torch.device("cpu")), m, loss_fn=loss)
    schedule.step(x) if rank == 0 else schedule.step(target=target)
    ratio = layers[rank].weight.grad / alone
    show("%d micro-batches: gradient / gradient of the batch from %.6f to %.6f" % (m, ratio.min(), ratio.max()))

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
1 micro-batches: gradient / gradient of the batch from 1.000000 to 1.000000
2 micro-batches: gradient / gradient of the batch from 2.000000 to 2.000000
4 micro-batches: gradient / gradient of the batch from 4.000000 to 4.000000
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
