# Sourced after setup.sh by scripts that try things on bare systems: chroots made by debootstrap.
# Mirrors come from this machine's apt, otherwise from debootstrap's defaults; DEBIAN_MIRROR and
# UBUNTU_MIRROR override them. UBUNTU_KEYRING is the file with Ubuntu's keys, if it is not
# /usr/share/keyrings/ubuntu-archive-keyring.gpg. shellcheck shell=bash

: "${UBUNTU_KEYRING:=/usr/share/keyrings/ubuntu-archive-keyring.gpg}"

root=    # the chroot in use
keep=    # not empty: chroots are kept
ccache=  # folder of ccache for compilers in chroots; empty: none
log=     # file for what the commands print
system=  # the release of Debian or Ubuntu in use
systems=()  # those that were named

# The comment at the top of the script.
usage() { sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "$0"; }

# The options of scripts that have no others.
parse_arguments() {
  while (($# > 0)); do
    case "$1" in
      --keep) keep=yes ;;
      --ccache)
        ccache="$(realpath "${2:?--ccache needs a folder}")"
        shift
        ;;
      --help | -h)
        usage
        exit
        ;;
      -*) fail "$1: unknown option; see scripts/$(basename "$0") --help" ;;
      *) systems+=("$1") ;;
    esac
    shift
  done
}

require_chroots() {
  ((EUID == 0)) || fail "only root can make chroots"
  command -v debootstrap >/dev/null || fail "debootstrap is missing; install it with: apt-get install debootstrap"
}

is_ubuntu() {
  case "$1" in
    jammy | noble | oracular | plucky | questing) return 0 ;;
    *) return 1 ;;
  esac
}

# The mirror that this machine's apt uses for Debian or Ubuntu; empty if there is none.
mirror_of_apt() {
  # shellcheck disable=SC2016  # apt's own variable
  apt-get indextargets --format '$(REPO_URI)' "Origin: $1" 'Created-By: Packages' 2>/dev/null |
    grep -v -- '-security' | head -n 1 || true
}

# bootstrap SYSTEM FOLDER
bootstrap() {
  local options=(--variant=minbase) mirror script=
  if is_ubuntu "$1"; then
    mirror="${UBUNTU_MIRROR:-$(mirror_of_apt Ubuntu)}"
    options+=("--components=main,universe" "--keyring=${UBUNTU_KEYRING}")
    [[ -e "${UBUNTU_KEYRING}" ]] || {
      echo "${UBUNTU_KEYRING} is missing; install the package ubuntu-keyring, or set UBUNTU_KEYRING"
      return 1
    }
    # All releases of Ubuntu use this script; debootstrap may be older than the release.
    script=/usr/share/debootstrap/scripts/gutsy
  else
    mirror="${DEBIAN_MIRROR:-$(mirror_of_apt Debian)}"
  fi
  debootstrap "${options[@]}" "$1" "$2" "${mirror}" ${script:+"${script}"}
}

# new_root NAME: a folder for a chroot.
new_root() {
  root="$(mktemp -d "${TMPDIR:-/tmp}/gpufilter-$1-XXXXXX")"
  chmod 755 "${root}"
}

# Mounts what a container has.
mount_system() {
  mount -t proc proc "${root}/proc"
  mount -t sysfs -o ro sysfs "${root}/sys"
  mount -t tmpfs tmpfs "${root}/dev/shm"
  mkdir -p "${root}/dev/pts"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "${root}/dev/pts"
}

# Builds in the chroot use the folder of ccache, if there is one; the package ccache has to be
# installed.
mount_ccache() {
  [[ -n "${ccache}" ]] || return 0
  mkdir -p "${ccache}" "${root}/ccache"
  mount --bind "${ccache}" "${root}/ccache"
}

# False if something is still mounted.
unmount_system() {
  local folder
  for folder in ccache dev/pts dev/shm sys proc; do
    if mountpoint -q "${root}/${folder}"; then
      umount "${root}/${folder}" || umount --lazy "${root}/${folder}" || return 1
    fi
  done
}

clean_up() {
  [[ -n "${root}" ]] || return 0
  if ! unmount_system; then
    say "${root}: something is still mounted there"
  elif [[ -n "${keep}" ]]; then
    say "the chroot is ${root}"
  else
    rm -rf --one-file-system "${root}"
  fi
  root=
}

clean_up_at_the_end() {
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

# inside [NAME=VALUE...] COMMAND...
inside() {
  local compiling=()
  if mountpoint -q "${root}/ccache"; then
    compiling=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=/ccache
      "CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_ctime,include_file_mtime")
  fi
  chroot "${root}" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive ${CI:+CI="${CI}"} "${compiling[@]}" "$@" </dev/null
}

# step WHAT COMMAND...: runs a command inside.
step() {
  local what="$1" begin="${SECONDS}"
  shift
  printf '\n==== %s: %s\n' "${what}" "$*" >>"${log}"
  inside "$@" >>"${log}" 2>&1 || fail "${system}: ${what}: failed; see the end of ${log}"
  say "${system}: ${what}: ok, $((SECONDS - begin)) s"
}
