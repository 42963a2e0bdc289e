//! Forwarding between programs.

use crate::common::{open, plan, start};
use netburn_lab::{ProcessExit, StartOptions};

#[test]
fn a_download_passes_the_modelled_network() {
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
    assert_eq!(client.text().0, ProcessExit::Status(0));
    assert_eq!(server.text().0, ProcessExit::Status(0));
    // Counters are published ten times a second.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while lab.counters().delivered < 2_897 && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let counters = lab.counters();
    // 4 MiB are 2897 segments of 1448 bytes. Aggregates are coalesced, so there are far fewer writes.
    assert!(counters.delivered >= 2_897, "{counters:?}");
    assert!(counters.written < counters.delivered / 2, "{counters:?}");
    assert_eq!(lab.failed(), None);
}

#[test]
fn stations_reach_only_each_other_and_by_name() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let (one, other) = (plan.stations[0].name.as_str(), plan.stations[1].name.as_str());
    let serve = "import socket\ns = socket.create_server(('0.0.0.0', 9))\nprint('up', flush=True)\nc, a = s.accept()\nc.sendall(a[0].encode())";
    let mut server = start(&lab, other, &["python3", "-c", serve]);
    assert_eq!(server.line(), "up");
    let ask = format!("import socket\nprint(socket.create_connection(('{other}', 9)).recv(99).decode())");
    let (ended, text) = start(&lab, one, &["python3", "-c", &ask]).text();
    assert_eq!((ended, text.trim()), (ProcessExit::Status(0), "198.18.1.0"));
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
    // Counters are published ten times a second.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while lab.counters().rejected.values().sum::<u64>() == 0 {
        assert!(std::time::Instant::now() < deadline, "no rejected packet is counted");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_connection_to_an_unknown_address_fails_at_once_with_the_reason() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    let ask = "import errno, socket\nfor to in ['192.0.2.1', '198.18.200.1', '2001:db8::1', 'fd6e:6574:6275:726e::77']:\n\
               \x20s = socket.socket(socket.AF_INET6 if ':' in to else socket.AF_INET); s.settimeout(100)\n\
               \x20print(errno.errorcode[s.connect_ex((to, 22))])";
    let (ended, text) = start(&lab, &plan.stations[0].name, &["python3", "-c", ask]).text();
    assert_eq!(ended, ProcessExit::Status(0));
    assert_eq!(
        text.split_whitespace().collect::<Vec<_>>(),
        ["ENETUNREACH", "EHOSTUNREACH", "ENETUNREACH", "EHOSTUNREACH"]
    );
}

#[test]
fn a_server_marks_its_side_of_a_marked_connection() {
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
        assert_eq!(client.text().0, ProcessExit::Status(0));
    }
}

#[test]
fn daemons_end_with_the_lab() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let lab = open(&plan);
    // The daemon has left its parent, its session and its process group.
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
    // Dropping the lab waits for the helper, which exits only after all its descendants.
    assert_eq!(daemons(), 0);
}

#[test]
fn tshark_reads_the_captures() {
    let plan = plan("anomaly", &[("baseline", "\"0s\"")]);
    let folder = tempfile::tempdir().unwrap();
    let lab = netburn_lab::Lab::open(&plan, crate::common::helper()).unwrap();
    let begin = StartOptions {
        captures: Some(folder.path()),
        ..StartOptions::default()
    };
    lab.start_with(netburn_platform::Monotonic::now(), begin).unwrap();
    let station = plan.stations[0].name.as_str();
    let mut server = start(&lab, "server", &["iperf3", "-s", "-1", "--forceflush"]);
    server.line();
    server.line();
    let client = start(&lab, station, &["iperf3", "-4", "-c", "server", "-R", "-n", "1M"]);
    assert_eq!(client.text().0, ProcessExit::Status(0));
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
    // 1 MiB are 725 segments of 1448 bytes.
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
