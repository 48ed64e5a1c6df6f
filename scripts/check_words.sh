#!/usr/bin/env bash
# Looks for words that Hooke's text does not use: British spelling and private words (docs/glossary.md).
#
#   scripts/check_words.sh [PATH ...]      files or folders; if none is given, all that are mended
#
# scripts/words/forbidden.txt lists them, scripts/words/exceptions.txt what passes, with a reason. In
# Markdown, code is not looked at; in C, TypeScript, Python and shell only comments and strings are, in
# Python docstrings and in TypeScript text in any quotes, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# CHANGELOG.md is exempt: it speaks of the past.
if [ $# -eq 0 ]; then
  set -- README.md ARCHITECTURE.md CONTRIBUTING.md */README.md docs scenes \
    src \
    include measure cli play bench fuzz examples cmake scripts python tests \
    web/src web/tests web/scripts web/shared web/report \
    CMakeLists.txt Makefile
fi

python3 - "$@" <<'END'
import pathlib, re, sys

SUFFIXES = {".md", ".c", ".h", ".cpp", ".hpp", ".cu", ".cuh", ".def", ".ts", ".mjs", ".js", ".py", ".sh", ".json"}
HASH_COMMENTS = {".py", ".pyi", ".sh", ".cmake"}
SCRIPTS = {".ts", ".mjs", ".js"}
BUILD_FILES = {"CMakeLists.txt", "Makefile"}  # with comments and strings as a shell script has them


def rows(name, columns):
    for line in pathlib.Path("scripts/words", name).read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        row = line.split("\t")
        if len(row) != columns or not all(part.strip() for part in row):
            sys.exit(f"check_words.sh: scripts/words/{name}: needs {columns} columns: {line}")
        yield row


FORBIDDEN = [(re.compile(rf"\b(?:{word})\b", re.I), instead) for word, instead in rows("forbidden.txt", 2)]
EXCEPTIONS = [(path, re.compile(words, re.I)) for path, words, _ in rows("exceptions.txt", 3)]


def is_checked(file):
    return file.suffix in SUFFIXES | HASH_COMMENTS or file.name in BUILD_FILES


def files(paths):
    for path in map(pathlib.Path, paths):
        if not path.exists():
            sys.exit(f"check_words.sh: there is no {path}")
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in found if is_checked(file) and "node_modules" not in file.parts)


def blank(match):
    """Blanks of the same length and lines, so that places stay."""
    return re.sub(r"[^\n]", " ", match.group())


def prose_of_markdown(text):
    text = re.sub(r"^```.*?^```", blank, text, flags=re.M | re.S)
    text = re.sub(r"(?<=\n\n)(?: {4}.*\n|\n)+", blank, text)  # indented code
    text = re.sub(r"`[^`\n]*`|\]\([^)\s]*\)|<!--.*?-->", blank, text)
    return text


def prose_of_code(text, file):
    hashes = file.suffix in HASH_COMMENTS or file.name in BUILD_FILES
    comments = r"#[^\n]*" if hashes else r"/\*.*?\*/|//[^\n]*"
    strings = r'"(?:\\.|[^"\\\n])*"'
    if file.suffix in {".py", ".pyi"}:
        strings = r'"""(?:\\.|[^\\])*?"""|' + strings + r"|'(?:\\.|[^'\\\n])*'"
    if file.suffix in SCRIPTS:
        strings += r"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`"
    result = [" " if c != "\n" else c for c in text]
    for match in re.finditer(f"{comments}|{strings}", text, re.S):
        result[match.start():match.end()] = match.group()
    return "".join(result)


def is_exempt(file, text, match):
    around = text[max(0, match.start() - 40):match.end() + 40]
    offset = min(40, match.start())
    for path, words in EXCEPTIONS:
        if path != "*" and pathlib.Path(path) not in [file, *file.parents]:
            continue
        for allowed in words.finditer(around):
            if allowed.start() <= offset and allowed.end() >= offset + len(match.group()):
                return True
    return False


count = 0
for file in files(sys.argv[1:]):
    text = file.read_text(encoding="utf-8")
    prose = prose_of_markdown(text) if file.suffix == ".md" else prose_of_code(text, file)
    for word, instead in FORBIDDEN:
        for match in word.finditer(prose):
            if is_exempt(file, prose, match):
                continue
            line = prose.count("\n", 0, match.start()) + 1
            print(f"{file}:{line}: '{match.group()}': write {instead}")
            count += 1
if count:
    sys.exit(f"check_words.sh: {count} words; an exception needs a reason in scripts/words/exceptions.txt")
print("The words are those of the glossary.")
END
