#!/bin/sh
# A whole model: its shapes, what its converter left, and the proof that it is not needed.  Shapes, proofs, C and checked
# results for OpenVINO models; then a photograph through block operations and back.
# Every command is printed before it runs, and can be typed as printed.  `make demo` installs what the commands need.
set -eu
cd "$(dirname "$0")/.."
models=examples/models
out=${1:-demo-output} # or the folder in the first argument
mkdir -p "$out"

run() {
    printf '\n$'
    for word in "$@"; do
        case $word in
        *[!A-Za-z0-9_./=,:-]*) printf " '%s'" "$word" ;;
        *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    "$@"
}

# Run a command that must end with status 1: a claim that does not hold.
run_refuted() {
    status=0
    run "$@" || status=$?
    test "$status" -eq 1
}

# Print a model's shapes, write its C, and compare a result with the interpreter: MODEL SHAPE.
follow() {
    printf '\n== %s\n' "$1"
    run symlayout infer "$models/$1.xml"
    run symlayout emit "$models/$1.xml" --name "$1" -o "$out/$1"
    run python -c "import numpy as np; np.save(\"$out/in.npy\", np.random.rand($2).astype(\"f4\"))"
    run symlayout run "$models/$1.xml" -i "$out/in.npy" -o "$out/$1.npy"
    run python examples/check_model.py "$models/$1.xml" "$out/in.npy" "$out/$1.npy"
}

printf '\n== a U-Net that tf2onnx exported\n'
run symlayout infer "$models/unet.onnx"
run symlayout optimize "$models/unet.onnx" -o "$out/unet.onnx" --svg "$out/unet.svg"
run symlayout verify "$models/unet.onnx" "$out/unet.onnx"

block_2d='block_shape=[1,5]'
to_batch_2d="openvino:SpaceToBatch-2($block_2d, pads_begin=[0,2], pads_end=[0,0])"
to_space_2d="openvino:BatchToSpace-2($block_2d, crops_begin=[0,2], crops_end=[0,0])"
block_5d='block_shape=[1,2,4,3,1]'
to_batch_5d="openvino:SpaceToBatch-2($block_5d, pads_begin=[0,0,1,0,0], pads_end=[0,0,1,0,0])"
to_space_5d="openvino:BatchToSpace-2($block_5d, crops_begin=[0,0,1,0,0], crops_end=[0,0,1,0,0])"

follow batch_to_space_2d 10,2
echo
echo '# The crops lose elements, so pads do not undo them.  The elements that the crops keep survive pads and crops.'
run_refuted symlayout prove "$models/batch_to_space_2d.xml" "$to_batch_2d"
run symlayout prove "$models/batch_to_space_2d.xml" "$to_batch_2d" "$to_space_2d" -- "$to_space_2d"

follow batch_to_space_5d 48,3,3,1,3
run symlayout prove "$models/batch_to_space_5d.xml" "$to_batch_5d" "$to_space_5d" -- "$to_space_5d"

follow space_to_batch_5d 2,6,10,3,3
run symlayout prove "$models/space_to_batch_5d.xml" "$to_space_5d"

follow space_to_depth 5,7,4,6
run symlayout prove "$models/space_to_depth.xml" 'openvino:DepthToSpace-1(mode="blocks_first", block_size=2)'

follow round_trip_dynamic 2,3,4,5
run symlayout prove "$models/round_trip_dynamic.xml"

printf '\n== a photograph\n'
run python examples/photo_demo.py examples/photo/chelsea.png "$out"
