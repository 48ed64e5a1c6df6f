"""Checks the includes of src/ against the order of the folders in ARCHITECTURE.md: a file may include headers of its
own folder and of those above it in that list. Exceptions stand in the table 'Includes that point ahead' there, each
with its reason; one that is not used any more is an error, too. Of the folders beside src/ in the table 'Folders beside
src/' a file may include headers of its own folder and of those that the table names."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
text = (root / "ARCHITECTURE.md").read_text()


def folder_order():
    """Names at the start of the indented lines of the section on folders."""
    section = text.split("## The folders, in the order in which they may include each other", 1)[1]
    block = section.split("\n\n", 2)[1]
    return re.findall(r"^    (\w+) ", block, re.M)


def exceptions():
    """Rows '| `file` | `header` | reason |'."""
    return set(re.findall(r"^\| `(src/[^`]+)` \| `([^`]+)` \|", text, re.M))


def outer_folders():
    """Rows '| `folder` | `folder`, `folder` | what it is |' as {folder: folders that it may include}."""
    section = text.split("Folders beside `src/`", 1)[1].split("\n\n", 2)[1]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", section, re.M)
    return {name: {name, *re.findall(r"`(\w+)`", others)} for name, others in rows}


order = folder_order()
rank = {name: number for number, name in enumerate(order)}
folders = {path.name for path in (root / "src").iterdir() if path.is_dir()}
mistakes = [f"ARCHITECTURE.md does not list the folder src/{name}" for name in sorted(folders - set(order))]
mistakes += [f"ARCHITECTURE.md lists src/{name}, which is not there" for name in sorted(set(order) - folders)]
allowed, used = exceptions(), set()
count = 0
for path in sorted((root / "src").rglob("*.[ch]*")):
    if path.suffix not in {".c", ".h", ".cu", ".cuh"}:
        continue
    name = str(path.relative_to(root))
    own = path.relative_to(root / "src").parts[0]
    for header in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
        other = header.split("/")[0]
        count += 1
        if other not in rank or own not in rank or rank[other] <= rank[own]:
            continue
        if (name, header) in allowed:
            used.add((name, header))
        else:
            mistakes.append(f"{name} includes {header}, but {other} comes after {own}")
for folder, others in outer_folders().items():
    for path in sorted((root / folder).glob("*.[ch]")):
        for header in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            count += 1
            if "/" in header and header.split("/")[0] not in others:
                mistakes.append(f"{path.relative_to(root)} includes {header}; {folder} may include {sorted(others)}")
mistakes += [f"the exception {name} -> {header} is not needed" for name, header in sorted(allowed - used)]
for mistake in mistakes:
    print(mistake)
print(f"{count} includes, {len(used)} of them declared exceptions, {len(mistakes)} mistakes")
sys.exit(1 if mistakes or count == 0 else 0)
