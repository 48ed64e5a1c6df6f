#!/usr/bin/env bash
# Says what a run left in a folder and how to look at it: scripts/show_result.sh FOLDER
set -euo pipefail

folder=$1
echo
echo "The result is in $folder:"
(cd "$folder" && ls -1 | sed -n '1,20s/^/  /p; 21s/.*/  .../p')

shopt -s nullglob globstar
for file in "$folder"/**/*.pvd; do
  echo "ParaView: open $file, press Apply, then Play."
done
for file in "$folder"/**/*.pc2; do
  mesh=("$(dirname "$file")"/*.obj)
  echo "Blender: import ${mesh[0]:-the OBJ file} (keep its vertex order), add the modifier"
  echo "  Mesh Cache, choose PC2 and $file, then play the animation."
done
