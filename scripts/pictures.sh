#!/usr/bin/env bash
# Draws the pictures of the README and of documents: scripts/pictures.sh PROGRAM FOLDER
#
# That of the page needs 'make web' and a browser, those of the examples of gradients scipy and matplotlib of PYTHON (the
# system's Python 3); they are left as they are without them.
set -euo pipefail
program=$1
folder=$2
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
web=$sources/web
python=${PYTHON:-/usr/bin/python3}
export PYTHONPATH=$(dirname "$program")/python MPLBACKEND=Agg
mkdir -p "$folder"

# draw FILE SCENE OPTIONS...
draw() { "$program" render "$2" -o "$folder/$1" "${@:3}"; }

draw flag.gif flag --size 300x195 --from 2 --to 3.6 --fps 10
draw table.png table --time 1.6 --size 400x260
draw curtain.png curtain --time 1.2 --color strain --size 400x260
draw trampoline.png trampoline --time 1 --color strain --size 400x260
draw jelly_block.png jelly_block --time 2.9 --color strain --size 400x260
draw ball.png ball --time 1.5 --size 400x260
draw cloth_on_ball.png cloth_on_ball --time 1.2 --size 400x260
draw towel.png towel --time 2.4 --size 400x260
draw rope_knot.png rope_knot --time 2.6 --camera 28,22,2 --size 400x260

if [ -e "$web/dist/index.html" ] && [ -d "$web/node_modules" ] && command -v node >/dev/null; then
  node "$web/scripts/picture.mjs" "$folder/page.jpg"
  echo "$folder/page.jpg: the page, 1240 x 760 pixels"
else
  echo "page.jpg is left as it is: 'make web' builds what it shows"
fi
if "$python" -c "import hooke, matplotlib, scipy" 2>/dev/null; then
  for example in fit_stiffness throw_net rest_shape wind_from_flag walker friction_from_slide; do
    "$python" -B "$sources/examples/python/$example.py" "$folder/$example.png"
  done
else
  echo "pictures of gradients are left as they are: $python has no scipy or no matplotlib"
fi
du -ch "$folder"/* | tail -n 1
