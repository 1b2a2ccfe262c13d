#!/bin/sh
# enter-root.sh ROOT PROGRAM...: starts `node PROGRAM...` like a container of the image, without an engine: it sees
# only ROOT, read-only except /tmp, as a user without rights. Root must start it in a mount namespace of its own
# (unshare --mount).
set -eu
root=$1
shift
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount --rbind /dev "$root/dev"
# The /proc of its own process namespace, if it has one.
mount -t proc proc "$root/proc"
export HOME=/ PATH=/usr/local/bin NODE_ENV=production
export NODE_COMPILE_CACHE=/var/cache/dlq-manager MALLOC_ARENA_MAX=1
export NODE_OPTIONS="--max-semi-space-size=4 --v8-pool-size=1"
exec /usr/sbin/chroot --userspec=65532:65532 --groups=65532 "$root" /usr/local/bin/node "$@"
