#!/usr/bin/env bash
# A container that boots several times, with systemd as process 1 in its own namespaces. Its files are an
# overlay of this system's files, which is removed at the end. It has only a loopback device, and can't change
# the kernel's settings.
#
# starts.sh FOLDER: runs each FOLDER/start-N in order as root in a booted container, with output to FOLDER/output-N.
# FOLDER is /opt/bench there. Exits with 77 if this system doesn't permit such a container.
set -euo pipefail
folder=$1
cannot() {
    echo "no machine to start here: $*" >&2
    exit 77
}

if [ "${2-}" = inside ]; then
    # Process 1 of its namespaces, which finally executes systemd.
    start=$3 root=$folder/files/root
    mount --make-rprivate /
    mkdir -p "$root"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/files/written,workdir=$folder/files/work" "$root" || exit 77
    mount -t proc proc "$root/proc"
    mount --bind "$root/proc/sys" "$root/proc/sys"
    mount -o remount,ro,bind "$root/proc/sys"
    mount -t sysfs -o ro sysfs "$root/sys" || exit 77
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup" || exit 77
    for place in run tmp dev; do mount -t tmpfs tmpfs "$root/$place"; done
    for device in null zero full random urandom tty; do
        touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    mkdir -p "$root/dev/pts" "$root/dev/shm" "$root/opt/bench"
    mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    mount --bind "$folder" "$root/opt/bench"
    units=$root/etc/systemd/system
    mkdir -p "$units"
    # No services of this system, and none that changes the kernel or the hardware.
    for unit in "$units"/*.wants/*; do
        [[ $unit == */netburn-* ]] || rm -f "$unit"
    done
    for unit in systemd-{sysctl,udevd,udev-trigger,modules-load,binfmt,remount-fs,tmpfiles-setup-dev,timesyncd}.service \
        systemd-udevd-{control,kernel}.socket {tmp,sys-kernel-debug,sys-kernel-tracing,sys-fs-fuse-connections,dev-hugepages}.mount; do
        ln -sf /dev/null "$units/$unit"
    done
    cat > "$units/bench.service" <<END
[Unit]
Wants=systemd-logind.service
After=multi-user.target systemd-logind.service
[Service]
Type=oneshot
TimeoutStartSec=40
WorkingDirectory=/opt/bench
ExecStart=/bin/bash start-$start
StandardOutput=file:/opt/bench/output-$start
StandardError=inherit
ExecStopPost=/bin/systemctl --no-block --force poweroff
END
    cat > "$units/bench.target" <<END
[Unit]
Requires=multi-user.target
Wants=bench.service
AllowIsolate=yes
END
    cd "$root"
    # The container can neither set the clock, load modules nor power off this machine.
    exec env -i PATH="$PATH" container=other setpriv --bounding-set=-sys_time,-sys_module,-sys_rawio,-sys_boot,-syslog \
        chroot . /lib/systemd/systemd --system --unit=bench.target --log-target=null --show-status=no
fi

# A test does not install systemd, which would become the first process of this system.
[ -x /lib/systemd/systemd ] && [ -n "$(find /lib /usr/lib -name pam_systemd.so -print -quit)" ] || cannot systemd is missing
grep -qw overlay /proc/filesystems || cannot no overlay file system
groups=$(awk '{ for (i = 7; i < NF; i++) if ($i == "-" && $(i + 1) == "cgroup2") { print $5; exit } }' /proc/self/mountinfo)
[ -n "$groups" ] || cannot no cgroup2
group=$groups/netburn-machine-$$
mkdir "$group" 2>/dev/null || cannot "$groups can't be written"
trap 'find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || true' EXIT
mkdir -p "$folder/files"
# Visible only to the processes below, and removed with the last of them.
mount --make-rprivate /
mount -t tmpfs tmpfs "$folder/files"
mkdir "$folder/files/written" "$folder/files/work"
for script in "$folder"/start-*; do
    start=${script##*-}
    ended=0
    (
        echo "$BASHPID" > "$group/cgroup.procs"
        exec timeout --kill-after=2 42 unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child \
            bash "$0" "$folder" inside "$start"
    ) || ended=$?
    [ "$ended" -ne 77 ] || cannot overlay, sysfs or cgroup2 of its own is not permitted
done
