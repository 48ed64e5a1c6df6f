#!/usr/bin/env bash
# Draws the pictures of the README: scripts/pictures.sh PROGRAM FOLDER
set -euo pipefail
program=$1
folder=$2
mkdir -p "$folder"

# draw NAME SCENE OPTIONS...
draw() { "$program" render "$2" -o "$folder/$1.png" --size 960x540 "${@:3}"; }

draw flag flag --time 3
draw curtain curtain --time 1.2
draw curtain_strain curtain --time 1.2 --color strain
draw jelly_block jelly_block --time 2.9
draw ball ball --time 1.5
draw trampoline trampoline --time 1 --color strain
draw net net --time 2
draw pendulum_chain pendulum_chain --time 2.2
