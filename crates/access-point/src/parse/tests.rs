//! Outputs of real drivers. Those of public reports have other addresses here.

use super::{debugfs, iw, procfs, shell, tc};
use crate::state::{Backlog, Processor, Softnet};
use netburn_record::Bssid;

/// mt7603, iw of OpenWrt 24.10: openwrt/mt76#1080 (2026-05-02).
const MT7603: &str = "Station 02:00:00:00:01:00 (on phy0-ap0)
        authorized:     yes
        WMM/WME:        yes
        inactive time:  0 ms
        rx bytes:       4917488
        rx packets:     12427
        tx bytes:       7797738
        tx packets:     13502
        tx retries:     298
        tx failed:      4
        rx drop misc:   0
        signal:         -29 [-32, -32] dBm
        signal avg:     -29 [-32, -32] dBm
        tx bitrate:     54.0 MBit/s
        tx duration:    2235552 us
        rx bitrate:     54.0 MBit/s
        rx duration:    1180571 us
        airtime weight: 256
        expected throughput:    30.211Mbps
        connected time: 4358 seconds
        associated at [boottime]:       117453.088s

Station 02:00:00:00:02:00 (on phy0-ap0)
        tx bitrate:     702.0 MBit/s VHT-MCS 8 80MHz VHT-NSS 2
";

/// mt7996: openwrt/openwrt#17489 (2025), two of its channels.
const MT7996_SURVEY: &str = "Survey data from wl5g
\tfrequency:\t\t\t2432 MHz
\tnoise:\t\t\t\t-83 dBm
\tchannel active time:\t\t114 ms
\tchannel busy time:\t\t83 ms
\tchannel receive time:\t\t79 ms
\tchannel transmit time:\t\t0 ms
Survey data from wl5g
\tfrequency:\t\t\t2437 MHz [in use]
\tnoise:\t\t\t\t-84 dBm
\tchannel active time:\t\t497753 ms
\tchannel busy time:\t\t104676 ms
\tchannel receive time:\t\t87380 ms
\tchannel transmit time:\t\t16494 ms
Survey data from wl5g
\tfrequency:\t\t\t2442 MHz
\tnoise:\t\t\t\t-81 dBm
\tchannel active time:\t\t114 ms
";

/// ath10k-ct without a survey: greearb/ath10k-ct#8 (2017).
const ATH10K_SURVEY: &str = "Survey data from ap0
\tfrequency:\t\t\t5180 MHz [in use]
Survey data from ap0
\tfrequency:\t\t\t5200 MHz
";

#[test]
fn stations_have_what_the_driver_prints() {
    let stations = iw::stations("phy0-ap0", MT7603);
    let [first, second] = stations.as_slice() else {
        panic!("{stations:?}");
    };
    assert_eq!(first.interface, "phy0-ap0");
    assert_eq!(first.address, Bssid([2, 0, 0, 0, 1, 0]));
    assert_eq!(first.signal, Some(-2900));
    assert_eq!((first.bytes_up, first.bytes_down), (Some(4_917_488), Some(7_797_738)));
    assert_eq!((first.retries, first.failed), (Some(298), Some(4)));
    assert_eq!(first.airtime_down_us, Some(2_235_552));
    assert_eq!(first.airtime_up_us, Some(1_180_571));
    assert_eq!(first.rate_down, Some(54_000_000));
    assert_eq!(first.connected_s, Some(4358));
    assert_eq!(first.backlog, None);
    assert_eq!(second.rate_down, Some(702_000_000));
    assert_eq!((second.signal, second.airtime_down_us), (None, None));
}

#[test]
fn queues_of_a_station_are_added_up() {
    // hwsim on Linux 6.12, with iw 5.19 and -v.
    let text = "Station 02:00:00:00:01:00 (on wlan0)
\ttx duration:\t0 us
\trx duration:\t0 us
\tMSDU:
\t\tTID\trx\ttx\ttx retries\ttx failed
\t\t0\t6023\t23178\t0\t\t0
\tTXQs:
\t\tTID\tqsz-byt\tqsz-pkt\tflows\tdrops\tmarks\toverlmt\thashcol\ttx-bytes\ttx-packets
\t\t0\t3028\t2\t23177\t5\t1\t0\t0\t35489355\t\t23178
\t\t7\t100\t1\t2\t2\t0\t0\t0\t322\t\t2
\tDTIM period:\t2
\tconnected time:\t22 seconds
";
    let stations = iw::stations("wlan0", text);
    let expected = Backlog {
        bytes: 3128,
        packets: 3,
        drops: 7,
        marks: 1,
    };
    assert_eq!(stations[0].backlog, Some(expected));
    assert_eq!(stations[0].connected_s, Some(22));
    // A driver that never counts airtime prints 0.
    assert_eq!((stations[0].airtime_down_us, stations[0].airtime_up_us), (None, None));
}

#[test]
fn only_the_channel_in_use_counts() {
    let surveys = iw::surveys("wl5g", MT7996_SURVEY);
    let [survey] = surveys.as_slice() else {
        panic!("{surveys:?}")
    };
    assert_eq!((survey.frequency_mhz, survey.noise), (2437, Some(-8400)));
    assert_eq!(survey.on_channel_ms, Some(497_753));
    assert_eq!(survey.busy_ms, Some(104_676));
    assert_eq!((survey.receiving_ms, survey.sending_ms), (Some(87_380), Some(16_494)));
    let surveys = iw::surveys("ap0", ATH10K_SURVEY);
    assert_eq!(surveys.len(), 1);
    assert_eq!(surveys[0].busy_ms, None);
}

#[test]
fn an_interface_has_channel_and_power() {
    let text = "phy#0\n\tInterface wlan0\n\t\tifindex 3\n\t\taddr 02:00:00:00:00:00\n\t\tssid a b\n\t\ttype AP\n\
                \t\tchannel 36 (5180 MHz), width: 80 MHz, center1: 5210 MHz\n\t\ttxpower 23.50 dBm\n";
    let devices = iw::devices(text);
    assert_eq!(devices[0].name, "wlan0");
    let fact = |topic: &str| &devices[0].facts.iter().find(|(known, _)| known == topic).unwrap().1;
    assert_eq!(fact("ssid"), "a b");
    assert_eq!(iw::channel(fact("channel")), (Some(5180), Some(80)));
    assert_eq!(iw::power(fact("txpower")), Some(2350));
}

#[test]
fn cake_has_tins() {
    // tc of iproute2 6.1 on Linux 6.12, shortened: `tc qdisc add dev lan root cake bandwidth 50mbit`.
    let text = r#"[{"kind":"noqueue","handle":"0:","dev":"lo","root":true,"options":{}},
        {"kind":"mq","handle":"0:","dev":"wlan0","root":true,"options":{},"bytes":2624,"packets":32,"drops":0,"backlog":0,"qlen":0},
        {"kind":"fq_codel","handle":"0:","dev":"wlan0","parent":":4","options":{"limit":10240},"bytes":7,"drops":1,"ecn_mark":2},
        {"kind":"cake","handle":"8001:","dev":"lan","root":true,"options":{"bandwidth":6250000,"diffserv":"diffserv3"},
         "bytes":345209,"packets":5126,"drops":3,"backlog":1500,"qlen":1,"tins":[
          {"threshold_rate":390625,"sent_bytes":0,"backlog_bytes":0,"peak_delay_us":0,"avg_delay_us":0,"drops":0,"ecn_mark":0},
          {"threshold_rate":6250000,"sent_bytes":345167,"backlog_bytes":9,"peak_delay_us":42,"avg_delay_us":3,"drops":3,"ecn_mark":4}]},
        {"kind":"cake","handle":"8002:","dev":"x","root":true,"options":{"bandwidth":"unlimited"},"bytes":1},
        {"kind":"fifo","dev":"a name that is no interface","root":true},
        {"kind":7}]"#;
    let queues = tc::queues(text).unwrap();
    let names: Vec<&str> = queues.iter().map(|queue| queue.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "wlan0 mq",
            "wlan0 fq_codel :4",
            "lan cake tin 1",
            "lan cake tin 2",
            "lan cake",
            "x cake"
        ]
    );
    assert_eq!((queues[1].drops, queues[1].marks), (1, Some(2)));
    assert_eq!(
        (queues[3].delay_us, queues[3].marks, queues[3].packets),
        (Some(3), Some(4), None)
    );
    // CAKE prints the marks of its tins only.
    assert_eq!(
        (queues[4].rate, queues[4].packets, queues[4].marks),
        (Some(50_000_000), Some(1), Some(4))
    );
    assert_eq!(queues[5].rate, None);
    for other in ["", "qdisc noqueue 0: dev lo root", "{}"] {
        assert_eq!(tc::queues(other), None, "{other}");
    }
}

#[test]
fn files_of_procfs() {
    assert_eq!(procfs::uptime_ms("815.87 1540.12\n"), Some(815_870));
    let stat = "cpu  30 0 50 900 7 0 20 0 0 0\ncpu0 10 0 20 450 1 0 15 0 0 0\ncpu1 20 0 30 450 6 0 5 0 0 0\nintr 1 2\n";
    let processor = |busy, softirq, total| Processor { busy, softirq, total };
    assert_eq!(
        procfs::processors(stat),
        [processor(45, 15, 496), processor(55, 5, 511)]
    );
    let softnet = "00005df8 00000001 00000014 0 0\n00005d43 00000002 0000000b 0 0\n";
    let expected = Softnet {
        dropped: 3,
        squeezed: 31,
    };
    assert_eq!(procfs::softnet(softnet), Some(expected));
    assert_eq!(
        procfs::memory_available("MemTotal: 9 kB\nMemAvailable:   779548 kB\n"),
        Some(779_548 * 1024)
    );
    let arp = "IP address       HW type     Flags       HW address            Mask     Device
192.168.77.11    0x1         0x2         02:00:00:00:01:00     *        wlan0
192.168.77.12    0x1         0x0         00:00:00:00:00:00     *        wlan0
";
    let address = "192.168.77.11".parse().unwrap();
    assert_eq!(procfs::neighbours(arp), [(address, Bssid([2, 0, 0, 0, 1, 0]))]);
    // The name of a process may contain anything (proc(5)).
    let stat = "212 (drop (b) 1) S 1 212 212 0 -1 4194560 120 0 0 0 7 5 0 0 20 0 1 0 900 1 2";
    assert_eq!(procfs::process_time(stat), Some(120_000_000));
}

#[test]
fn shells_print_their_times_in_several_ways() {
    for (text, expected) in [
        ("0m0.030000s 0m0.020000s\n0m0.060000s 0m0.050000s\n", Some(160_000_000)),
        ("0m0.03s 0m0.02s\n1m0.06s 0m0.05s\n", Some(60_160_000_000)),
        ("0m0,030s 0m0,020s\n0m0,060s 0m0,050s\n", Some(160_000_000)),
        ("0.03 0.02\n", None),
        ("", None),
    ] {
        assert_eq!(shell::times(text), expected, "{text}");
    }
}

#[test]
fn files_of_debugfs_complete_a_station() {
    // net/mac80211/debugfs_sta.c of Linux 6.6.
    let folder = "/sys/kernel/debug/ieee80211/phy0/netdev:wlan0/stations/02:00:00:00:01:00";
    let mut stations = iw::stations("wlan0", "Station 02:00:00:00:01:00 (on wlan0)\n\ttx bytes:\t5\n");
    let airtime = "RX: 1200 us\nTX: 3400 us\nWeight: 256\nVirt-T: 17\n";
    debugfs::add(&mut stations, &format!("{folder}/airtime"), airtime);
    let aql = "Q depth: VO: 0 us VI: 5 us BE: 120 us BK: 0 us\nQ limit[low/high]: VO: 5000/12000 VI: 5000/12000\n";
    debugfs::add(&mut stations, &format!("{folder}/aql"), aql);
    let aqm = "target 19999us interval 99999us ecn yes\n\
               tid ac backlog-bytes backlog-packets new-flows drops marks overlimit collisions tx-bytes tx-packets flags\n\
               0 2 3000 2 9 4 1 0 0 90 10 0x0(RUN)\n\
               1 3 0 0 0 0 0 0 0 0 0 0x0(RUN)\n\
               6 0 100 1 2 1 0 0 0 9 1 0x0(RUN AMPDU)\n";
    debugfs::add(&mut stations, &format!("{folder}/aqm"), aqm);
    // Files of another interface and of an unknown station.
    debugfs::add(&mut stations, &folder.replace("wlan0", "wlan1"), "RX: 9 us\n");
    debugfs::add(&mut stations, &format!("{folder}9/airtime"), "RX: 9 us\n");
    let [station] = stations.as_slice() else {
        panic!("{stations:?}")
    };
    assert_eq!(
        (station.airtime_up_us, station.airtime_down_us),
        (Some(1200), Some(3400))
    );
    assert_eq!(station.pending_us, Some(125));
    let expected = Backlog {
        bytes: 3100,
        packets: 3,
        drops: 5,
        marks: 1,
    };
    assert_eq!(station.backlog, Some(expected));
}

/// iproute2 6.1 on Linux 6.12, and Busybox 1.36, with other addresses.
#[test]
fn neighbours_of_ip_have_an_address_of_their_interface() {
    let text = "fd00::11 dev wlan0 lladdr 02:00:00:00:01:00 REACHABLE\n\
        fe80::1 dev eth1 lladdr 02:00:00:00:09:00 router STALE\n\
        fd00::12 dev wlan0 FAILED\n\
        fd00::13 dev wlan0 lladdr 00:00:00:00:00:00 NOARP\n\
        fd00::14 dev wlan0 lladdr\nnonsense\n";
    let neighbours = procfs::ip_neighbours(text);
    assert_eq!(
        neighbours,
        [
            ("fd00::11".parse().unwrap(), Bssid([2, 0, 0, 0, 1, 0])),
            ("fe80::1".parse().unwrap(), Bssid([2, 0, 0, 0, 9, 0]))
        ]
    );
}
