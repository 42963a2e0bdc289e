//! Packets get through.

use crate::common::{open, plan, start};
use netburn_lab::{Begin, Ended};

#[test]
fn a_download_crosses_the_modelled_air() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let station = plan.stations[0].name.clone();
    let mut server = start(&lab, "server", &["iperf3", "-s", "-1", "--forceflush"]);
    server.line();
    server.line();
    let client = start(
        &lab,
        &station,
        &["iperf3", "-c", "server", "-R", "-n", "4M", "-C", "cubic"],
    );
    assert_eq!(client.text().0, Ended::Status(0));
    assert_eq!(server.text().0, Ended::Status(0));
    // Counts are shown ten times a second.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while lab.counted().delivered < 2_897 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let counted = lab.counted();
    // 4 MiB are 2 897 segments of 1 448 bytes; the radio's aggregates arrive joined, so there are far fewer writes.
    assert!(counted.delivered >= 2_897, "{counted:?}");
    assert!(counted.written < counted.delivered / 2, "{counted:?}");
    assert_eq!(lab.failed(), None);
}

#[test]
fn stations_reach_each_other_by_name_and_nobody_else() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let (one, other) = (plan.stations[0].name.as_str(), plan.stations[1].name.as_str());
    let serve = "import socket\ns = socket.create_server(('0.0.0.0', 9))\nprint('up', flush=True)\nc, a = s.accept()\nc.sendall(a[0].encode())";
    let mut server = start(&lab, other, &["python3", "-c", serve]);
    assert_eq!(server.line(), "up");
    let ask = format!("import socket\nprint(socket.create_connection(('{other}', 9)).recv(99).decode())");
    let (ended, text) = start(&lab, one, &["python3", "-c", &ask]).text();
    assert_eq!((ended, text.trim()), (Ended::Status(0), "198.18.1.0"));
    for outside in ["192.0.2.1", "127.0.0.1", "198.18.200.1"] {
        let ask = format!(
            "import socket\ntry:\n socket.create_connection(('{outside}', 22), 0.3); print('reached')\nexcept OSError: print('no')"
        );
        assert_eq!(
            start(&lab, one, &["python3", "-c", &ask]).text().1.trim(),
            "no",
            "{outside}"
        );
    }
    // The counts are published ten times a second.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while lab.counted().refused.values().sum::<u64>() == 0 {
        assert!(std::time::Instant::now() < deadline, "no refused packet is counted");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_connection_to_nobody_ends_at_once_with_the_reason() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let ask = "import errno, socket\nfor to in ['192.0.2.1', '198.18.200.1', '2001:db8::1', 'fd6e:6574:6275:726e::77']:\n\
               \x20s = socket.socket(socket.AF_INET6 if ':' in to else socket.AF_INET); s.settimeout(100)\n\
               \x20print(errno.errorcode[s.connect_ex((to, 22))])";
    let (ended, text) = start(&lab, &plan.stations[0].name, &["python3", "-c", ask]).text();
    assert_eq!(ended, Ended::Status(0));
    assert_eq!(
        text.split_whitespace().collect::<Vec<_>>(),
        ["ENETUNREACH", "EHOSTUNREACH", "ENETUNREACH", "EHOSTUNREACH"]
    );
}

#[test]
fn who_answers_a_marked_connection_marks_it_too() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    // AF41, 34, is 136 in the TOS byte.
    let serve = "import socket\ns = socket.create_server(('0.0.0.0', 9))\nprint('up', flush=True)\nfor _ in range(2):\n c, a = s.accept(); c.recv(1); print(c.getsockopt(socket.IPPROTO_IP, socket.IP_TOS), flush=True)";
    let mut server = start(&lab, "server", &["python3", "-c", serve]);
    assert_eq!(server.line(), "up");
    for (tos, answered) in [("136", "136"), ("0", "0")] {
        let ask = format!(
            "import socket\ns = socket.socket()\ns.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, {tos})\ns.connect(('server', 9)); s.send(b'x')"
        );
        let client = start(&lab, &plan.stations[0].name, &["python3", "-c", &ask]);
        assert_eq!(server.line(), answered);
        assert_eq!(client.text().0, Ended::Status(0));
    }
}

#[test]
fn daemons_end_with_the_lab() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    // It has left its parent, its session and its group.
    let mark = format!("netburn-daemon-{}", std::process::id());
    let script =
        format!("setsid python3 -c 'import time; print(\"up\", flush=True); time.sleep(600)' {mark} & sleep 600");
    let mut shell = start(&lab, &plan.stations[0].name, &["sh", "-c", &script]);
    assert_eq!(shell.line(), "up");
    let daemons = || {
        let ours = |pid: &str| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.ends_with(format!("\0{mark}\0").as_bytes()))
        };
        let all = std::fs::read_dir("/proc")
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        all.filter(|name| ours(&name.to_string_lossy())).count()
    };
    assert_eq!(daemons(), 1);
    drop(lab);
    drop(shell);
    // The helper is waited for, and it ends only after all that it started.
    assert_eq!(daemons(), 0);
}

#[test]
fn tshark_reads_the_captures() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let folder = tempfile::tempdir().unwrap();
    let lab = netburn_lab::Lab::open(&plan, crate::common::helper()).unwrap();
    let begin = Begin {
        captures: Some(folder.path()),
        ..Begin::default()
    };
    lab.begin_with(netburn_linux::Monotonic::now(), begin).unwrap();
    let station = plan.stations[0].name.as_str();
    let mut server = start(&lab, "server", &["iperf3", "-s", "-1", "--forceflush"]);
    server.line();
    server.line();
    let client = start(&lab, station, &["iperf3", "-4", "-c", "server", "-R", "-n", "1M"]);
    assert_eq!(client.text().0, Ended::Status(0));
    drop((server, lab));
    let tshark = |file: &str, arguments: &[&str]| {
        let output = std::process::Command::new("tshark")
            .arg("-r")
            .arg(folder.path().join(file))
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let checked = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"];
    let packets = |filter: &str| {
        let station = format!("station-{station}.pcapng");
        tshark(&station, &[&checked[..], &["-Y", filter]].concat())
            .lines()
            .count()
    };
    // 1 MiB are 725 segments of 1 448 bytes.
    assert!(packets("tcp.srcport == 5201 && tcp.len > 0") >= 725);
    assert_eq!(packets("tcp.checksum.status == 0 || ip.checksum.status == 0"), 0);
    let fields = [
        "-T",
        "fields",
        "-e",
        "radiotap.mcs.index",
        "-e",
        "wlan.fc.type_subtype",
        "-e",
        "radiotap.ampdu.reference",
    ];
    let air = tshark("air.pcapng", &fields);
    let aggregates = air
        .lines()
        .filter(|line| line.split('\t').nth(2).is_some_and(|field| !field.is_empty()));
    assert!(aggregates.count() > 3, "{air}");
    // QoS Data is type 2, subtype 8.
    assert!(
        air.lines()
            .all(|line| matches!(line.split('\t').nth(1), Some("0x0028" | "40"))),
        "{air}"
    );
}
