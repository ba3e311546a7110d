#!/usr/bin/env bash
# Importing torch on Debian 13 undoes nohup for what the program starts, and keeps the program alive without it.
#
# Guess     A library leaves the signals alone of a program that loads it. Under nohup a training and all that it starts
#           outlive the terminal; without nohup a hangup ends them.
# Truth     Its LibTorch is linked with Open MPI, that with UCX, and UCX's constructor sets a handler for SIGHUP, whether
#           it was ignored or not, and for four signals of crashes. Under nohup the program itself goes on, but a
#           program that it starts later gets the default, and a hangup ends it. Without nohup a hangup ends nothing: the
#           program goes on after its terminal is gone, and UCX writes its traces on stdout from then on. Nothing needs
#           to use MPI or UCX for that.
# Version   PyTorch 2.6.0, Open MPI 5.0.7 and UCX 1.18.1 as Debian 13 has them
# Source    a caught signal is reset to the default by exec, an ignored one stays ignored; UCX's settings name a signal
#           that switches to debugging, by default SIGHUP, and what is to be done with errors, by default a backtrace.
# Remedy    UCX_DEBUG_SIGNO=0 in the environment; UCX_HANDLE_ERRORS=none for the others. In a program: note the signals
#           before the libraries' constructors run (.preinit_array), and put them back in main().
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
packages=(python3-torch=2.6.0+dfsg-7 libopenmpi40=5.0.7-1 libucx0=1.18.1+ds-2+b1)
{ "${apt[@]}" update && "${apt[@]}" -d install "${packages[@]}"; } >"$folder/log" 2>&1 ||
  { echo "cannot have ${packages[*]} of trixie:" >&2; tail -n 5 "$folder/log" >&2; exit 2; }
for package in "$folder"/cache/archives/*.deb; do dpkg -x "$package" "$folder/root"; done
cat >"$folder/try.py" <<'PY'
import os, signal, subprocess, sys

def state(name, who="self"):
    masks = dict(line.split(":") for line in open("/proc/%s/status" % who))
    bit = 1 << getattr(signal, name) - 1
    return "ignored" if int(masks["SigIgn"], 16) & bit else "caught" if int(masks["SigCgt"], 16) & bit else "default"

names = ["SIGHUP", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGINT", "SIGTERM"]
before = {name: state(name) for name in names}
import torch
changed = ["%s %s -> %s" % (name, before[name], state(name)) for name in names if before[name] != state(name)]
print("%s, import torch %s: %s" % (sys.argv[1], torch.__version__.split("+")[0], ", ".join(changed) or "nothing changes"))
started = subprocess.Popen(["sleep", "60"])
while "sleep" not in open("/proc/%d/comm" % started.pid).read(): pass
print("  SIGHUP in a program that it starts: " + state("SIGHUP", started.pid), flush=True)
started.kill()
os.kill(os.getpid(), signal.SIGHUP)
print("  a hangup: goes on", flush=True)
PY
libraries=$folder/root/usr/lib/x86_64-linux-gnu
# try_import WORDS default|ignore [NAME=VALUE]...: SIGHUP as the program is started with it.
try_import() {
  local code=0
  {
    env "--$2-signal=HUP" "${@:3}" PYTHONHOME="$folder/root/usr" PYTHONDONTWRITEBYTECODE=1 \
      PYTHONPATH="$folder/root/usr/lib/python3/dist-packages" "$libraries/ld-linux-x86-64.so.2" \
      --library-path "$libraries:$folder/root/usr/lib:$libraries/blas:$libraries/lapack" \
      "$folder/root/usr/bin/python3.13" -W ignore "$folder/try.py" "$1" || code=$?
  } 2>"$folder/errors"
  [[ $code != 129 ]] || echo "  a hangup: ends it"
  [[ $code == 0 || $code == 129 ]] || { tail -n 5 "$folder/errors" >&2; exit 2; }
}
{
  try_import "as started" default
  try_import "under nohup" ignore
  try_import "UCX_DEBUG_SIGNO=0" default UCX_DEBUG_SIGNO=0
  try_import "under nohup, UCX_DEBUG_SIGNO=0" ignore UCX_DEBUG_SIGNO=0
  try_import "UCX_HANDLE_ERRORS=none" default UCX_HANDLE_ERRORS=none
} | sed 's/^\[.* UCX .*/  UCX writes on stdout/' | uniq | tee "$folder/output"
cat >"$folder/expected" <<'END'
as started, import torch 2.6.0: SIGHUP default -> caught, SIGSEGV default -> caught, SIGBUS default -> caught, SIGILL default -> caught, SIGFPE default -> caught
  SIGHUP in a program that it starts: default
  a hangup: goes on
  UCX writes on stdout
under nohup, import torch 2.6.0: SIGHUP ignored -> caught, SIGSEGV default -> caught, SIGBUS default -> caught, SIGILL default -> caught, SIGFPE default -> caught
  SIGHUP in a program that it starts: default
  a hangup: goes on
  UCX writes on stdout
UCX_DEBUG_SIGNO=0, import torch 2.6.0: SIGSEGV default -> caught, SIGBUS default -> caught, SIGILL default -> caught, SIGFPE default -> caught
  SIGHUP in a program that it starts: default
  a hangup: ends it
under nohup, UCX_DEBUG_SIGNO=0, import torch 2.6.0: SIGSEGV default -> caught, SIGBUS default -> caught, SIGILL default -> caught, SIGFPE default -> caught
  SIGHUP in a program that it starts: ignored
  a hangup: goes on
UCX_HANDLE_ERRORS=none, import torch 2.6.0: SIGHUP default -> caught
  SIGHUP in a program that it starts: default
  a hangup: goes on
  UCX writes on stdout
END
diff "$folder/expected" "$folder/output" || { echo "this has changed" >&2; exit 1; }
