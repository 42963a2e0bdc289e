//! Real programs at a modelled access point. Needs namespaces, /dev/net/tun, iperf3 and curl, as CI provides them.

use crate::support::{Bench, SMALL, finish};

#[test]
fn a_run_in_the_lab_records_airtime() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let command = ["run", "small.toml", "--on", "lab", "--out", "run", "--format", "json"];
    let ended = finish(bench.netburn(command));
    // On a busy machine the self-check may fail. The run has its record all the same.
    assert!(matches!(ended.status.code(), Some(0 | 3)), "{ended:?}");
    let summary = ended.json();
    assert_eq!(summary["environment"], "lab");
    assert!(
        !summary["self_check"]["reasons"].to_string().contains("taken down"),
        "{summary:#}"
    );
    for station in summary["stations"].as_array().unwrap() {
        let workload = &station["workloads"][0];
        assert!(workload["operations"].as_u64().unwrap() >= 10, "{summary:#}");
        assert!(station["airtime_share"].as_f64().unwrap() > 0.0, "{summary:#}");
        // One transmission in each direction takes about 100 µs of airtime. On an idle machine no operation takes 100 ms.
        let idle = station["idle_latency_ms"].as_f64().unwrap();
        assert!(idle >= 0.1, "{summary:#}");
        assert!(idle < 100.0 || ended.code() == 3, "{summary:#}");
    }
}

#[test]
fn output_and_status_of_a_command_are_passed_on() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let lab = |words: &[&str]| {
        let all = ["lab", "small.toml"].iter().chain(words).copied();
        finish(bench.netburn(all.collect::<Vec<_>>()))
    };
    let ended = lab(&[
        "--at",
        "caller",
        "--",
        "curl",
        "-4",
        "-sS",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code} %{remote_ip}",
        "http://server/",
    ]);
    assert!(ended.stdout.ends_with(b" 198.18.0.1"), "{ended:?}");
    let ended = lab(&["--at", "reader", "--", "sh", "-c", "exit 7"]);
    assert_eq!(ended.status.code(), Some(7), "{ended:?}");
    let ended = lab(&["--at", "missing", "--", "true"]);
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    assert!(ended.stderr.contains("caller, reader"), "{ended:?}");
    // The station has its own device and a route to the others, but no address of the host or the outside.
    let ended = lab(&["--at", "reader", "--", "cat", "/proc/net/dev"]);
    let text = String::from_utf8(ended.stdout).unwrap();
    let devices: Vec<&str> = text
        .lines()
        .skip(2)
        .map(|line| line.split(':').next().unwrap().trim())
        .collect();
    assert_eq!(devices, ["lo", "wlan0"]);
}

/// Processes of this machine whose command line contains `mark`, without the search itself.
fn processes(mark: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok());
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let text = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    text.filter(|line| line.contains(mark)).collect()
}

#[test]
fn a_killed_lab_leaves_no_process() {
    let bench = Bench::new();
    bench.write("small.toml", SMALL);
    let mark = format!("netburn-left-{}", std::process::id());
    let daemon = format!("setsid python3 -c 'import time; time.sleep(600)' {mark} & sleep 600");
    // Instants from before the namespaces exist until long after all programs run.
    for wait in [5, 20, 40, 80, 150, 400, 700] {
        let arguments = ["lab", "small.toml", "--at", "reader", "--", "sh", "-c", &daemon, &mark];
        let mut command = bench.netburn(arguments);
        command.stdin(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait));
        // SIGKILL.
        child.kill().unwrap();
        child.wait().unwrap();
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !processes(&mark).is_empty() {
            assert!(
                std::time::Instant::now() < until,
                "after {wait} ms: {:?}",
                processes(&mark)
            );
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}
