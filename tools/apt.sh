# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Sourced by client.sh and firmware.sh: packages of Debian by apt, without root and without a change to the system.
# Mirror and keyring are those of the system's own apt sources.

fail() {
    echo "${0##*/}: error: $*" >&2
    exit 1
}

need() { # COMMAND PACKAGE
    command -v "$1" >/dev/null || fail "$1 is missing, it is in the package $2"
}

# The mirror of the system's Debian sources.
find_mirror() {
    # shellcheck disable=SC2016 # apt expands it
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        sed -n 's,/*$,,; /\/debian$/p; /\/debian\.list$/p' | head -n 1
}

find_keyring() {
    for file in /usr/share/keyrings/debian-archive-keyring.gpg /usr/share/keyrings/debian-archive-keyring.pgp; do
        [ -r "$file" ] && echo "$file" && return
    done
}

# prepare_apt DIR ARCHITECTURE COMPONENT: makes DIR, where apt keeps its lists and packages. apt verifies all of them by
# the signature of the mirror.
prepare_apt() {
    need apt-get apt
    need dpkg-deb dpkg
    apt_dir=$1
    apt_component=$3
    [ -n "${mirror:=$(find_mirror)}" ] || fail "no Debian mirror in the sources of apt, name one: --mirror URL"
    [ -n "${keyring:=$(find_keyring)}" ] || fail "no keyring of Debian, it is in the package debian-archive-keyring"
    mkdir -p "$apt_dir/lists/partial" "$apt_dir/archives/partial" "$apt_dir/none" || fail "$apt_dir: cannot create it"
    : >"$apt_dir/status"
    cat >"$apt_dir/apt.conf" <<END
#clear APT::Update;
#clear DPkg::Post-Invoke;
#clear APT::Architectures;
APT::Architecture "$2";
APT::Architectures { "$2"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$apt_dir/";
Dir::State::lists "$apt_dir/lists/";
Dir::State::status "$apt_dir/status";
Dir::Cache "$apt_dir/";
Dir::Cache::archives "$apt_dir/archives/";
Dir::Etc::sourcelist "$apt_dir/sources.list";
Dir::Etc::sourceparts "$apt_dir/none/";
Dir::Etc::preferences "$apt_dir/none/preferences";
Dir::Etc::preferencesparts "$apt_dir/none/";
END
}

# Runs a command of apt with this configuration. What it prints is in a file, whose error is shown.
run_apt() { # COMMAND ARGUMENTS
    command=$1
    shift
    (cd "$apt_dir/archives" && LC_ALL=C exec "$command" -c "$apt_dir/apt.conf" -q "$@") >"$apt_dir/log" 2>&1
}

explain_apt() {
    sed -n 's/^E: //p' "$apt_dir/log" | head -n 1
}

# find_suite SUITES: prints the first of them that the mirror has, whose lists it fetched.
find_suite() {
    for suite in $1; do
        echo "deb [signed-by=$keyring] $mirror $suite $apt_component" >"$apt_dir/sources.list"
        # By default apt only warns if older lists are left.
        run_apt apt-get update --error-on=any && echo "$suite" && return
    done
    return 1
}
