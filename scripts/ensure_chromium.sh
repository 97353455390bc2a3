#!/usr/bin/env bash
# The browser tests need Chromium: installs Debian's when it is missing and we may, else says what to do.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
        exit 0
    fi
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium for the browser tests"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
else
    echo "The browser tests need Chromium. On Debian: sudo apt-get install chromium" >&2
    exit 1
fi
