#!/bin/sh
# enter-root.sh ROOT PROGRAM...: runs `node PROGRAM...` as a container of the image would be run, without an engine:
# ROOT is all it sees, read only but for /tmp, and it is nobody in particular. To be started in a mount namespace of
# its own (unshare --mount), by root.
set -eu
root=$1
shift
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
# Of its own process namespace, where it has one.
mount -t proc proc "$root/proc"
export HOME=/ PATH=/usr/local/bin NODE_ENV=production
export NODE_COMPILE_CACHE=/var/cache/dlq-manager NODE_OPTIONS=--max-semi-space-size=4
exec /usr/sbin/chroot --userspec=65532:65532 --groups=65532 "$root" /usr/local/bin/node "$@"
