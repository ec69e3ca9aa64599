#!/bin/sh
# Debian packages that some tests use (a browser; the translators of the example; WordNet). Installed only
# where apt-get is there and may be used; elsewhere those tests skip and say what they miss.
set -u
wanted=""
for package in chromium-headless-shell apertium apertium-eng-spa apertium-spa-cat apertium-eng-cat \
    apertium-eo-es apertium-eo-en apertium-es-gl apertium-en-gl apertium-fr-es apertium-fra-cat wordnet-base; do
    dpkg -s "$package" >/dev/null 2>&1 || wanted="$wanted $package"
done
[ -n "$wanted" ] || exit 0
command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ] || {
    echo "not installed (needs apt-get and root):$wanted; tests that need them will skip"
    exit 0
}
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# where the browser without windows is not packaged, the whole one does
apt-cache show chromium-headless-shell >/dev/null 2>&1 ||
    wanted=$(echo "$wanted" | sed "s/chromium-headless-shell/chromium/")
apt-get install -y -qq --no-install-recommends $wanted >/dev/null ||
    echo "apt-get could not install:$wanted; tests that need them will skip"
exit 0
