#!/bin/sh
# Prints the home of a Java runtime that Spark can use (17 or newer), and installs one if there is
# none. Only the path goes to standard output; messages go to standard error.
set -eu

wanted=17

# usable JAVA: prints the home of that java command if it runs and is new enough. Spark starts Java
# with the vector module, which cut-down runtimes lack: ask for it here too.
usable() {
    told=$("$1" --add-modules=jdk.incubator.vector -XshowSettings:properties -version \
        2>&1 </dev/null) || return 1
    version=$(printf '%s\n' "$told" | sed -n 's/^ *java\.specification\.version = //p')
    home=$(printf '%s\n' "$told" | sed -n 's/^ *java\.home = //p')
    case $version in
        '' | *[!0-9]*) return 1 ;; # 1.8 and older have a dot
    esac
    [ "$version" -ge "$wanted" ] && [ -x "$home/bin/java" ] || return 1
    printf '%s\n' "$home"
}

# find_java: prints the first usable home. What the user chose comes first, then the versions that
# Spark is tested on most, then any other.
find_java() {
    if [ -n "${JAVA_HOME:-}" ] && usable "$JAVA_HOME/bin/java"; then return 0; fi
    if command -v java >/dev/null 2>&1 && usable java; then return 0; fi
    if [ -x /usr/libexec/java_home ]; then
        mac=$(/usr/libexec/java_home -v "$wanted+" 2>/dev/null) || mac=
        if [ -n "$mac" ] && usable "$mac/bin/java"; then return 0; fi
    fi
    for version in 17 21 ''; do
        for folder in \
            /usr/lib/jvm/*"$version"* \
            /usr/java/*"$version"* \
            /opt/java/*"$version"* \
            /Library/Java/JavaVirtualMachines/*"$version"*/Contents/Home \
            /opt/homebrew/opt/openjdk*"$version"*/libexec/openjdk.jdk/Contents/Home \
            /usr/local/opt/openjdk*"$version"*/libexec/openjdk.jdk/Contents/Home \
            "${HOME:-}"/.sdkman/candidates/java/*"$version"*; do
            if [ -x "$folder/bin/java" ] && usable "$folder/bin/java"; then return 0; fi
        done
    done
    return 1
}

# as_root COMMAND...: runs it as root, without ever asking for a password.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo -n "$@"; fi
}

can_be_root() {
    [ "$(id -u)" -eq 0 ] || { command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; }
}

# system_java: installs Java with the system's package manager.
system_java() {
    if command -v brew >/dev/null 2>&1 && [ "$(id -u)" -ne 0 ]; then
        HOMEBREW_NO_AUTO_UPDATE=1 NONINTERACTIVE=1 brew install --quiet openjdk@17
        return
    fi
    can_be_root || return 1
    if command -v apt-get >/dev/null 2>&1; then
        as_root apt-get update -qq || true # a list that is out of date may still do
        for package in openjdk-17-jre-headless openjdk-21-jre-headless default-jre-headless; do
            if as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -qq --no-install-recommends "$package"; then return 0; fi
        done
    elif command -v dnf >/dev/null 2>&1; then
        for package in java-17-openjdk-headless java-21-openjdk-headless java-latest-openjdk-headless; do
            if as_root dnf install -y -q "$package"; then return 0; fi
        done
    elif command -v apk >/dev/null 2>&1; then
        as_root apk add --quiet openjdk17-jre-headless
        return
    fi
    return 1
}

if find_java; then exit 0; fi

echo "java.sh: no Java $wanted or newer found; installing one ..." >&2
system_java </dev/null >/dev/null 2>&1 || true
if find_java; then exit 0; fi

echo "java.sh: Spark needs Java $wanted or newer: install a package such as" \
    "openjdk-17-jre-headless, or set JAVA_HOME, and try again." >&2
exit 1
