#!/usr/bin/env bash
# The program as a user runs it: several numbers of ranks and ways to launch, the handout's three actions, all kinds of
# pictures, bad input, a full disk, a killed rank.
source "$(dirname -- "$(readlink -f -- "$0")")/../../common/testing/program_checks.sh"
lab=vae_sequence_parallel
program=$bin/$lab
out=$scratch/results
has() { grep -qE -- "$1" "$scratch/out"; echo $?; }
num_true() { grep -c 'Tensors match: True' "$scratch/out"; }
is_jpeg() { [[ $(head -c 2 "$1" | od -An -tx1) == " ff d8" && $(tail -c 2 "$1" | od -An -tx1) == " ff d9" ]]; }

explains_itself "$program"
right "5 ranks" 5 --nproc 5 --out "$out"
verdict "$(grep -q '^| Reconstruction | True' "$out/vae_log.md"; echo $?)" "... and a log in Markdown"
verdict "$(is_jpeg "$out/reconstructed_baseline.jpg" && is_jpeg "$out/reconstructed_parallel.jpg"; echo $?)" "... and two JPEGs"
right "2 ranks that are threads" 2 --world threads --nproc 2 --out "$out"
run "$bin/labrun" --standalone --nproc-per-node 3 "$program" --out "$out"
accepts "labrun" $lab 3
verdict "$(grep -q '^3 ranks (processes)' "$out/vae_log.md" && grep -q '^| PeakBytes | True .* | True .* | True' "$out/vae_log.md"; echo $?)" "... and rank 0 has the log of all"
run "$program" check conv2d_halo --nproc 3
verdict "$([[ $code == 0 && $(head -n 1 "$scratch/out") == 'vae.conv2d_halo: 4 of 4 checks right on 3 ranks' ]]; echo $?)" "check TASK"
run "$program" modules --only conv2d --world sim --nproc 3 --out "$scratch/sim"
if grep -q 'no SimGrid' "$scratch/err"; then skip "this build has no simulated network"; else
  verdict "$([[ $code == 0 ]] && "$bin/labchecklog" vae "$scratch/out" --nproc 3 -- modules --only conv2d >"$scratch/err" 2>&1; echo $?)" \
    "in the simulated world, gradients included"
fi

# The three actions, in order, and out of order.
steps=$scratch/steps
run "$program" baseline --out "$steps"; refuses "baseline before encode" 2 "latent_code.pt' does not exist: the step encode writes it; hint: run encode first"
run "$program" test --nproc 2 --out "$steps"; refuses "test before encode" 2 "hint: run encode first"
run "$program" encode --out "$steps" --size 70
verdict "$([[ $code == 0 ]] && has '^encode: a picture of 70 x 70 \(generated, seed 2\) to a latent \[1, 16, 9, 9\]')" "encode: a side that 8 does not divide"
run "$program" test --nproc 2 --out "$steps"; refuses "test before baseline" 2 "hint: run baseline first"
run "$program" baseline --out "$steps"
verdict "$([[ $code == 0 ]] && has '^baseline: decoded in one process: .*, PSNR [0-9.]+ dB to ')" "baseline"
run "$program" test --nproc 4 --out "$steps"
cp "$scratch/out" "$scratch/test.log"
run "$program" test check-log "$scratch/test.log" --nproc 4
verdict "$code" "test prints exactly its lines"
run "$bin/labrun" --standalone --nproc-per-node 2 "$program" test --out "$steps"
verdict "$([[ $code == 0 && $(num_true) == 3 ]]; echo $?)" "test under labrun"
run "$program" test --nproc 4 --memory-limit 2 --out "$steps"
verdict "$([[ $code == 0 && $(num_true) == 5 ]]; echo $?)" "4 ranks decode within a limit on memory"
run "$program" test --nproc 1 --memory-limit 2 --out "$steps"; refuses "... within which one rank cannot" 2 "--memory-limit 2: rank 0 of 1 cannot decode this picture: cannot allocate .* MB of tensors are held, at most 2.0 MB may be; hint: more ranks"
run "$program" baseline --memory-limit 2 --out "$steps"; refuses "... nor one process" 2 "--memory-limit 2: one process cannot decode this picture"
run "$program" test --nproc 2 --out "$steps"
verdict "$([[ $code == 0 && $(num_true) == 3 ]]; echo $?)" "... which leaves the files as they were"
run "$program" test --memory-limit 2 --device cuda --out "$steps"; refuses "a limit on a GPU" 2 "--memory-limit: expected --device cpu|no CUDA"
run "$program" compare --out "$steps"
verdict "$([[ $code == 0 && -s $steps/difference.png ]] && has '^PSNR ([0-9.]+|inf) dB, largest difference [01] of 255$')" "compare: at most one step apart"
run "$program" compare --out "$steps" --first "$steps/picture.png"
verdict "$([[ $code == 0 ]] && has '^PSNR [0-9.]+ dB, largest difference [0-9]+ of 255$')" "... and with the picture itself"
run "$program" compare --out "$steps" --first "$out/picture.png"; refuses "pictures of two sizes" 2 "expected pictures of one size, got \[256, 256, 3\] and \[70, 70, 3\]"
run "$program" encode --out "$steps" --seed 43
run "$program" test --nproc 2 --out "$steps"; refuses "a baseline of another latent" 2 "is of another latent than .*hint: run baseline again"
run "$program" test --nproc 33 --out "$steps"; refuses "... and more ranks than columns, once that is fixed" 2 "run baseline again"
run "$program" baseline --out "$steps"
run "$program" test --nproc 33 --out "$steps"; refuses "more ranks than columns" 2 "--nproc 33: expected a latent at least as wide as there are ranks, got 32 column\(s\); hint: --nproc 32"

run "$program" init --config small --out "$scratch/other.safetensors"
run "$program" test --nproc 2 --out "$steps" --checkpoint "$scratch/other.safetensors"; refuses "a latent of another checkpoint" 2 "was encoded with another checkpoint than .*other.safetensors'; hint: "
run "$program" baseline --out "$steps" --checkpoint "$scratch/other.safetensors"; refuses "... by baseline, too" 2 "was encoded with another checkpoint than"
verdict "$([[ $(grep -c '^# vae_sequence_parallel \(encode\|baseline\|test\): the log of a run$' "$steps/vae_log.md") == 3 ]]; echo $?)" "the log has a page of every action"

# The checks alone.
run "$program" modules --nproc 14; refuses "modules on more ranks than a latent of the checks has columns" 2 "expected at most 13 ranks, got 14; hint"
run "$program" --nproc 14; refuses "... and so the whole" 2 "expected at most 13 ranks, got 14; hint"
run "$program" modules --nproc 2
modules=$(num_true)
cp "$scratch/out" "$scratch/modules.log"
run "$program" modules check-log "$scratch/modules.log" --nproc 2
verdict "$code" "modules prints exactly its lines"
sum=0
for kind in conv2d groupnorm upsample attn_block decoder memory; do
  run "$program" modules --only $kind --nproc 2
  verdict "$([[ $code == 0 && $(num_true) -ge 2 ]]; echo $?)" "modules --only $kind"
  sum=$((sum + $(num_true)))
done
verdict "$([[ $sum == "$modules" ]]; echo $?)" "... and together they are all"

# Pictures.
run "$program" encode --out "$scratch/wide" --image "$out/reconstructed_baseline.jpg"
verdict "$([[ $code == 0 ]] && has 'latent \[1, 16, 32, 32\]')" "encode a JPEG"
photo=$(dirname -- "$LAB_SOURCE_DIR")/shared/data/astronaut.png
if [[ -r $photo ]]; then
  run "$program" encode --out "$scratch/photo" --image "$photo"
  run "$program" baseline --out "$scratch/photo"
  run "$program" test --nproc 4 --out "$scratch/photo"
  verdict "$([[ $code == 0 && $(num_true) == 5 ]]; echo $?)" "a photo"
else skip "there is no photo at hand"; fi
echo 'not a picture' >"$scratch/text.jpg"
run "$program" --image "$scratch/text.jpg" --out "$out"; refuses "an invalid JPEG" 2 "text.jpg"
head -c 2000 "$out/reconstructed_baseline.jpg" >"$scratch/short.jpg"
run "$program" encode --image "$scratch/short.jpg" --out "$out"; refuses "half a JPEG" 2 "short.jpg"
run "$program" encode --image "$scratch/absent.png" --out "$out"; refuses "a picture that is not there" 2 "absent.png"
run "$program" --size 1 --nproc 4 --out "$scratch/one"; refuses "a picture of one pixel on 4 ranks" 2 "got 1 column\(s\); hint: --nproc 1"
right "a picture of one pixel on one rank" 1 --size 1 --nproc 1 --out "$scratch/one"

# Checkpoints.
run "$program" init --config small --dtype bfloat16 --out "$scratch/seeded.safetensors"
verdict "$([[ $code == 0 ]] && has ': 176 tensors, 1271427 parameters, bfloat16, 2.4 MiB$')" "init writes a seeded checkpoint"
run "$program" encode --checkpoint "$scratch/seeded.safetensors" --out "$scratch/seeded"
verdict "$code" "... which encodes"
head -c 100000 "$scratch/seeded.safetensors" >"$scratch/short.safetensors"
run "$program" --checkpoint "$scratch/short.safetensors" --out "$out"; refuses "half a checkpoint" 2 "short.safetensors"
run "$program" encode --checkpoint "$out/latent_code.safetensors" --out "$out"; refuses "another safetensors file" 2 "expected exactly the 244 tensors .* missing: .* not expected: latent"
run "$program" train --steps 2 --batch 1 --sizes 16,8 --out "$scratch/trained.safetensors"
verdict "$([[ $code == 0 ]] && has 'trained.safetensors: 176 tensors, 1271427 parameters, float16')" "train writes a checkpoint"
run "$program" train --steps 1 --batch 1 --sizes 8 --from "$scratch/trained.safetensors" --out "$scratch/again.safetensors"
verdict "$code" "... and goes on from one"
run "$program" train --sizes 16,20; refuses "a size that cannot be trained on" 2 "--sizes: expected numbers from 8 to 1024, multiples of 8 with commas between them, got '16,20'"

# A full disk: what was there stays, and nothing half-written is left.
before=$(cksum "$steps/latent_code.pt" "$steps/picture.png")
run bash -c "ulimit -f 20; trap '' XFSZ; exec '$program' encode --out '$steps'"
verdict "$([[ $code == 2 && $before == "$(cksum "$steps/latent_code.pt" "$steps/picture.png")" && $(find "$steps" -name '*.tmp*' | wc -l) == 0 ]]; echo $?)" "a full disk leaves the files as they were"

# What it measures, on the small model.
run "$program" memory --config small --size 64 --ranks 1,3 --out "$scratch/plots"
if command -v gnuplot >/dev/null && command -v rsvg-convert >/dev/null; then
  verdict "$([[ $code == 0 && -s $scratch/plots/vae_memory_small_64.png ]] && has '^P = 3 +[0-9.]+ +[0-9.]+ +0\.[0-9]+$')" "memory: a table and a plot"
else skip "gnuplot or rsvg-convert is not installed"; fi
run "$program" memory --ranks 1,,2; refuses "an invalid list" 2 "--ranks: expected numbers from 1 to 64, with commas between them, got '1,,2'"

mkdir "$scratch/killed" && cd "$scratch/killed" && survives_killed 2 "$program"

finish
