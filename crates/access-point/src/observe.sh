# Answers each line of standard input with the state of this access point. Only reads: writes no file, changes no setting.
# Each section begins with a line of this word and the name of the section. The word is different in each session, so that
# no name of a network or a file can look like one.
w=$1
# The process of the SSH server, whose processor time belongs to the observation.
server=/proc/$PPID/stat
[ "$2" != local ] || server=
LC_ALL=C PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin
export LC_ALL PATH

# A marked line. Some files end without a newline.
mark() {
    printf '\n%s %s\n' "$w" "$1"
}

# A marked line, and the output of a command.
print() {
    mark "$1"
    shift
    "$@" 2>/dev/null
}

# `iw` prints the queues of stations with -v, since version 4.14.
verbose=
iw help 2>&1 | grep -q 'station dump \[-v\]' && verbose=-v

about() {
    print uname uname -srm
    print head head -n 60 /tmp/sysinfo/model /proc/device-tree/model /etc/openwrt_release /etc/os-release
    print iw-version iw --version
    print dev iw dev
    for link in /sys/class/net/*/phy80211; do
        [ -e "$link" ] || continue
        name=${link%/*}
        name=${name##*/}
        print "driver $name" readlink "/sys/class/net/$name/device/driver"
        print "firmware $name" ethtool -i "$name"
    done
    print sqm uci -q show sqm
}

count=0

sample() {
    print head head -n 2000 /proc/uptime /proc/stat /proc/net/softnet_stat /proc/meminfo /proc/net/arp $server \
        /sys/kernel/debug/ieee80211/phy*/netdev:*/stations/*/airtime \
        /sys/kernel/debug/ieee80211/phy*/netdev:*/stations/*/aql \
        /sys/kernel/debug/ieee80211/phy*/netdev:*/stations/*/aqm
    seen=' '
    for link in /sys/class/net/*/phy80211; do
        [ -e "$link" ] || continue
        name=${link%/*}
        name=${name##*/}
        print "stations $name" iw dev "$name" station dump $verbose
        read -r phy <"$link/index"
        case $seen in
        *" $phy "*) ;;
        *) print "survey $name" iw dev "$name" survey dump ;;
        esac
        seen="$seen$phy "
    done
    print tc tc -s -j qdisc
    # IPv6 neighbours have no file. They change seldom.
    [ $((count % 10)) != 0 ] || print neighbours ip -6 neigh
    count=$((count + 1))
    print times times
}

# The last messages about stations and channels in the system log, and the clock that its times are from.
log() {
    print clock date +%Y-%m-%dT%H:%M:%S
    mark log
    if command -v logread; then
        logread
    elif command -v journalctl; then
        journalctl -q --no-pager -o short-iso -n 2000 -t hostapd -t usteer -t dawn
    else
        tail -q -n 5000 /var/log/messages /var/log/syslog
    fi 2>/dev/null | awk '/(hostapd|usteer|dawn)(\[[0-9]+\])?: / { print substr($0, 1, 300) }' | tail -n 1000
}

mark hello
while read -r request; do
    case $request in
    about) about ;;
    sample) sample ;;
    log) log ;;
    radios) print dev iw dev ;;
    *) exit ;;
    esac
    mark "end $request"
done
