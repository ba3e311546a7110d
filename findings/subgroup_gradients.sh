#!/usr/bin/env bash
# In a subgroup, torch.distributed.nn loses gradients of broadcast, raises in those of all_gather, and ranks are sorted.
#
# Guess     The differentiable collectives do in a group of ranks 1 and 3 what they do in a group of all ranks: broadcast's
#           source gets the sum of the gradients, all_gather's backward pass the sum for each rank's slice. new_group([2, 0])
#           makes rank 2 the group's first, as MPI_Group_incl does.
# Truth     broadcast from rank 1 gives rank 1 the gradient 0, and rank 3 its own in place of 0; from rank 3, both get 0, without
#           an error or a warning. The backward pass of all_gather raises, as rank 0 is not in the group. all_reduce and
#           reduce are right, and so is everything in a group of all ranks. new_group() sorts its list.
# Version   PyTorch 2.6.0 as Debian 13 has it (python3-torch 2.6.0+dfsg-7), on Gloo. 1.13.1 of Debian 12 is right about
#           broadcast, and raises and sorts likewise
# Source    distributed/nn/functional.py: broadcast's backward pass compares the source, a rank of the world, with the rank in
#           the group; on Gloo, all_gather's is a scatter from each number below the group's size, taken for a rank of
#           the world. distributed_c10d.py sorts the ranks of a new group.
# Remedy    An autograd function of one's own around broadcast and all_gather; with a group that begins with the ranks 0, 1, ...
#           both numbers are the same.
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
import datetime, os, sys, torch, torch.distributed as dist, torch.distributed.nn as differentiable

rank = next((rank for rank in (1, 2, 3) if os.fork() == 0), 0)
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=4,
                        timeout=datetime.timedelta(minutes=2))
everybody, members, unsorted = dist.group.WORLD, dist.new_group([1, 3]), dist.new_group([2, 0])

def show(what, value):
    """Rank 0 prints what ranks 1 and 3 have."""
    values = [None] * 4
    dist.all_gather_object(values, value)
    if rank == 0: print("%s: rank 1 %s, rank 3 %s" % (what, values[1], values[3]), flush=True)

def gradient(collective, group):
    """Of a tensor that goes through the collective; rank r's loss is 10 to the power of r times the results' sum."""
    if group is members and rank not in (1, 3): return None
    x = torch.ones(2, requires_grad=True)
    try:
        results = collective(x * 1, group)
        sum(10 ** rank * y.sum() for y in (results if isinstance(results, (list, tuple)) else [results])).backward()
        return x.grad.tolist()
    except ValueError as error:
        return "raises: " + str(error).split("<")[0].strip()

if rank == 0: print("version", torch.__version__.split("+")[0])
for name, collective in (
        ("broadcast from 1", lambda x, group: differentiable.broadcast(x, 1, group=group)),
        ("broadcast from 3", lambda x, group: differentiable.broadcast(x, 3, group=group)),
        ("reduce to 3", lambda x, group: differentiable.reduce(x, 3, group=group)),
        ("all_reduce", lambda x, group: differentiable.all_reduce(x, group=group)),
        ("all_gather", lambda x, group: differentiable.all_gather(x, group=group))):
    for who, group in (("of all", everybody), ("of 1 and 3", members)):
        show("gradient of %s, in a group %s" % (name, who), gradient(collective, group))
ranks = [None] * 4
dist.all_gather_object(ranks, dist.get_rank(unsorted))
if rank == 0: print("new_group([2, 0]): rank 2 is the group's %d, rank 0 its %d" % (ranks[2], ranks[0]))
dist.barrier()
if rank != 0: os._exit(0)
for _ in range(3): os.wait()
PY
libraries=$folder/root/usr/lib/x86_64-linux-gnu
GLOO_SOCKET_IFNAME=lo \
  PYTHONHOME=$folder/root/usr PYTHONPATH=$folder/root/usr/lib/python3/dist-packages PYTHONDONTWRITEBYTECODE=1 \
  timeout 300 "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$folder/root/usr/lib:$libraries/blas:$libraries/lapack" \
  "$folder/root/usr/bin/python3.13" -W ignore "$folder/try.py" "$folder/store" 2>"$folder/errors" |
  tee "$folder/output" || { tail -n 5 "$folder/errors" >&2; exit 2; }
cat >"$folder/expected" <<'END'
version 2.6.0
gradient of broadcast from 1, in a group of all: rank 1 [1111.0, 1111.0], rank 3 [0.0, 0.0]
gradient of broadcast from 1, in a group of 1 and 3: rank 1 [0.0, 0.0], rank 3 [1000.0, 1000.0]
gradient of broadcast from 3, in a group of all: rank 1 [0.0, 0.0], rank 3 [1111.0, 1111.0]
gradient of broadcast from 3, in a group of 1 and 3: rank 1 [0.0, 0.0], rank 3 [0.0, 0.0]
gradient of reduce to 3, in a group of all: rank 1 [1000.0, 1000.0], rank 3 [1000.0, 1000.0]
gradient of reduce to 3, in a group of 1 and 3: rank 1 [1000.0, 1000.0], rank 3 [1000.0, 1000.0]
gradient of all_reduce, in a group of all: rank 1 [1111.0, 1111.0], rank 3 [1111.0, 1111.0]
gradient of all_reduce, in a group of 1 and 3: rank 1 [1010.0, 1010.0], rank 3 [1010.0, 1010.0]
gradient of all_gather, in a group of all: rank 1 [1111.0, 1111.0], rank 3 [1111.0, 1111.0]
gradient of all_gather, in a group of 1 and 3: rank 1 raises: Global rank 0 is not part of group, rank 3 raises: Global rank 0 is not part of group
new_group([2, 0]): rank 2 is the group's 1, rank 0 its 0
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
