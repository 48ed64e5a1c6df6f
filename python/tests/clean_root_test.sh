#!/usr/bin/env bash
# Installs a wheel into fresh systems without compilers and uses it: clean_root_test.sh WHEEL SUITE...
#
# A system holds the essential packages of a release of Debian (bookworm) or Ubuntu (noble), Python, pip
# and numpy. mmdebstrap makes it, as root; where it cannot, the test is skipped (77).
set -euo pipefail
wheel=$(realpath "$1")
check=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/wheel_check.py
shift
if [ "$(id -u)" -ne 0 ] || ! command -v mmdebstrap >/dev/null; then
  echo "skipped: a fresh system needs root and mmdebstrap"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

ubuntu_keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
is_ubuntu() { [[ $1 == jammy || $1 == noble ]]; }
mirror_of() {
  if is_ubuntu "$1"; then echo "http://archive.ubuntu.com/ubuntu"; else echo "http://deb.debian.org/debian"; fi
}

for suite in "$@"; do
  root=$folder/$suite
  components=main
  if is_ubuntu "$suite"; then
    components=main,universe
    if [ ! -e $ubuntu_keys ]; then
      echo "clean_root_test.sh: the signatures of $suite need $ubuntu_keys (package ubuntu-keyring)" >&2
      exit 1
    fi
  fi
  mmdebstrap --quiet --variant=apt --components=$components --aptopt='APT::Install-Recommends "false"' \
    --include=python3,python3-numpy,python3-pip "$suite" "$root" "$(mirror_of "$suite")"
  cp "$wheel" "$check" "$root/opt/"
  run=(env -i HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin PIP_BREAK_SYSTEM_PACKAGES=1
    PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore chroot "$root")
  "${run[@]}" python3 -m pip --quiet install --no-index "/opt/$(basename "$wheel")"
  echo "$suite: $("${run[@]}" sh -c 'cd /tmp && python3 /opt/wheel_check.py')"
  rm -rf "$root"
done
