//! Archives of runs for bug reports.

use crate::support::{Bench, finish};
use netburn_record::{Header, Recorder};
use netburn_scenario::load;
use std::collections::BTreeSet;
use std::process::Command;

const SCENARIO: &str = r#"
title = "Network of Anna"
duration = "2 s"
baseline = "1 s"
drain = "1 s"
[ap.hall-of-anna]
[ap.hall-of-anna.radio.5g]
standard = "802.11n"
[station.annas-phone]
joins = "hall-of-anna.5g"
signal = "-60 dBm"
workload = ["voip", "probe"]
[station.fifo]
joins = "hall-of-anna.5g"
signal = "-60 dBm"
queue = "fifo"
workload = "probe"
"#;

const PRIVATE: [&str; 4] = ["hall-of-anna", "annas-phone", "Network of Anna", "annas-home"];

/// A bench with the run `saved` of the scenario.
fn simulated() -> Bench {
    let bench = Bench::new();
    bench.write("annas-home.toml", SCENARIO);
    finish(bench.netburn(["run", "annas-home.toml", "--on", "simulate", "--out", "saved"])).expect(0);
    bench
}

/// Output of tar, as an independent program.
fn tar(bench: &Bench, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("tar")
        .args(arguments)
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn an_archive_shows_the_report_of_its_run() {
    let bench = simulated();
    let ended = finish(bench.netburn(["report", "saved", "--bundle", "bug.tar.gz", "--format", "json"])).expect(0);
    assert!(ended.stderr.contains("the archive is bug.tar.gz"), "{}", ended.stderr);
    let listed = String::from_utf8(tar(&bench, &["-tzf", "bug.tar.gz"])).unwrap();
    let files: BTreeSet<&str> = listed.lines().collect();
    for file in [
        "bundle.json",
        "system.json",
        "run/run.json",
        "run/operations.parquet",
        "run/report.html",
    ] {
        assert!(
            files.contains(format!("netburn-bundle/{file}").as_str()),
            "{file} in {listed}"
        );
    }
    let stored = tar(&bench, &["-xOzf", "bug.tar.gz", "netburn-bundle/run/run.json"]);
    assert_eq!(stored, std::fs::read(bench.path("saved/run.json")).unwrap());
    let system: serde_json::Value =
        serde_json::from_slice(&tar(&bench, &["-xOzf", "bug.tar.gz", "netburn-bundle/system.json"])).unwrap();
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(system["host"]["kernel"], kernel.trim());

    let mut expected = ended.json();
    let mut opened = finish(bench.netburn(["report", "bug.tar.gz", "--format", "json"]))
        .expect(0)
        .json();
    assert_eq!(opened["run"].take(), "bug.tar.gz");
    expected["run"].take();
    assert_eq!(opened, expected);
    let text = finish(bench.netburn(["report", "bug.tar.gz", "--html", "page.html"]))
        .expect(0)
        .out();
    assert!(text.contains(&format!("kernel {}", kernel.trim())), "{text}");
    assert!(std::fs::metadata(bench.path("page.html")).unwrap().len() > 10_000);
}

#[test]
fn names_are_replaced_on_request() {
    let bench = simulated();
    let plain = finish(bench.netburn(["report", "saved", "--bundle", "plain.tar.gz", "--format", "json"])).expect(0);
    finish(bench.netburn(["report", "saved", "--bundle", "bug.tar.gz", "--anonymise"])).expect(0);
    let content = tar(&bench, &["-xOzf", "plain.tar.gz"]);
    for text in PRIVATE {
        assert!(contains(&content, text), "the test is not sensitive to {text}");
    }
    let content = tar(&bench, &["-xOzf", "bug.tar.gz"]);
    for text in PRIVATE {
        assert!(!contains(&content, text), "{text}");
    }
    assert!(!contains(&content, &bench.path("").display().to_string()));
    let opened = finish(bench.netburn(["report", "bug.tar.gz", "--format", "json"]))
        .expect(0)
        .json();
    assert_eq!(opened["scenario"], "scenario");
    assert_eq!(opened["stations"][0]["name"], "station-1");
    // Numbers are those of the run.
    let expected = plain.json();
    for station in 0..2 {
        let of = |summary: &serde_json::Value| summary["stations"][station]["workloads"][0]["latency_ms"].clone();
        assert!(of(&expected).is_object());
        assert_eq!(of(&opened), of(&expected));
    }
    let plan: serde_json::Value =
        serde_json::from_slice(&tar(&bench, &["-xOzf", "bug.tar.gz", "netburn-bundle/run/run.json"])).unwrap();
    assert_eq!(plan["plan"]["station"]["station-2"]["queue"], "fifo");
}

#[test]
fn the_runs_of_a_set_are_in_the_archive() {
    let bench = Bench::new();
    bench.write("annas-home.toml", SCENARIO);
    finish(bench.netburn([
        "run",
        "annas-home.toml",
        "--on",
        "simulate",
        "--repeat",
        "3",
        "--out",
        "saved",
    ]))
    .expect(0);
    for arguments in [
        &["--bundle", "bug.tar.gz"][..],
        &["--bundle", "bug.tar.gz", "--anonymise"],
    ] {
        finish(bench.netburn(["report", "saved"].iter().chain(arguments))).expect(0);
        let opened = finish(bench.netburn(["report", "bug.tar.gz", "--format", "json"]))
            .expect(0)
            .json();
        assert_eq!(opened["repeats"].as_array().unwrap().len(), 3);
    }
    let content = tar(&bench, &["-xOzf", "bug.tar.gz"]);
    assert!(PRIVATE.iter().all(|text| !contains(&content, text)));
}

#[test]
fn a_hostile_archive_is_rejected_and_leaves_nothing() {
    let bench = simulated();
    std::fs::create_dir(bench.path("temporary")).unwrap();
    finish(bench.netburn(["report", "saved", "--bundle", "bug.tar.gz"])).expect(0);
    // An archive with a link, made by tar from the files of a real one.
    tar(&bench, &["-xzf", "bug.tar.gz"]);
    std::fs::remove_file(bench.path("netburn-bundle/run/spool")).ok();
    std::os::unix::fs::symlink("/etc/passwd", bench.path("netburn-bundle/run/spool")).unwrap();
    tar(
        &bench,
        &[
            "-czf",
            "link.tar.gz",
            "netburn-bundle/bundle.json",
            "netburn-bundle/system.json",
            "netburn-bundle/run",
        ],
    );
    let name = "netburn-bundle/run/\u{1b}[2Jred";
    bench.write(name, "x");
    tar(&bench, &["-czf", "name.tar.gz", "netburn-bundle/bundle.json", name]);
    bench.write("text.tar.gz", "This is no archive.");
    let whole = std::fs::read(bench.path("bug.tar.gz")).unwrap();
    std::fs::write(bench.path("cut.tar.gz"), &whole[..whole.len() / 2]).unwrap();
    for (archive, why) in [
        ("link.tar.gz", "it is not a regular file"),
        ("name.tar.gz", "its name is unknown"),
        ("text.tar.gz", "not an archive of `netburn report --bundle`"),
        ("cut.tar.gz", "the archive is damaged"),
    ] {
        let mut command = bench.netburn(["report", archive]);
        command.env("TMPDIR", bench.path("temporary"));
        let ended = finish(command).expect(2);
        assert!(ended.stderr.contains(why), "{archive}: {}", ended.stderr);
        assert!(!ended.stderr.contains('\u{1b}'), "{}", ended.stderr);
        let left = std::fs::read_dir(bench.path("temporary")).unwrap().count();
        assert_eq!(left, 0, "{archive}");
    }
}

#[test]
fn an_archive_of_an_archive_is_an_error() {
    let bench = simulated();
    finish(bench.netburn(["report", "saved", "--bundle", "bug.tar.gz"])).expect(0);
    let ended = finish(bench.netburn(["report", "bug.tar.gz", "--bundle", "again.tar.gz"])).expect(2);
    assert!(
        ended
            .stderr
            .contains("--bundle: found an archive, expected the folder of a run"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_full_disk_is_an_error_and_an_earlier_archive_remains() {
    let bench = simulated();
    let ended = finish(bench.netburn(["report", "saved", "--bundle", "/dev/full"])).expect(3);
    assert!(
        ended.stderr.contains("/dev/full: No space left on device"),
        "{}",
        ended.stderr
    );
    // A limit of the size of files ends the page and the archive in the middle.
    bench.write("bug.tar.gz", "earlier");
    let mut shell = Command::new("sh");
    shell
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 4; exec \"$0\" report saved --bundle bug.tar.gz")
        .arg(env!("CARGO_BIN_EXE_netburn"));
    let ended = finish(bench.prepared(shell)).expect(3);
    assert!(ended.stderr.contains("bug.tar.gz: File too large"), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(bench.path("bug.tar.gz")).unwrap(), "earlier");
    assert!(!bench.path("bug.tar.gz.tmp").exists());
}

/// A special file is written to, and is not replaced by a regular one.
#[test]
fn a_pipe_remains_a_pipe() {
    let bench = simulated();
    let made = Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap();
    assert!(made.success());
    let reader = std::thread::spawn({
        let pipe = bench.path("pipe");
        move || std::fs::read(pipe).unwrap()
    });
    finish(bench.netburn(["report", "saved", "--html", "pipe"])).expect(0);
    assert!(contains(&reader.join().unwrap(), "</html>"));
    let kind = std::fs::metadata(bench.path("pipe")).unwrap().file_type();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&kind));
}

/// A run whose controller was killed has only a spool.
#[test]
fn a_killed_run_is_completed_before_it_is_packed() {
    let bench = Bench::new();
    bench.write("annas-home.toml", SCENARIO);
    let plan = load(bench.path("annas-home.toml").to_str().unwrap())
        .unwrap()
        .resolve()
        .unwrap();
    drop(Recorder::create(&bench.path("killed"), Header::simulated(plan)).unwrap());
    assert!(!bench.path("killed/run.json").exists());
    finish(bench.netburn(["report", "killed", "--bundle", "bug.tar.gz"])).expect(0);
    let opened = finish(bench.netburn(["report", "bug.tar.gz", "--format", "json"]))
        .expect(0)
        .json();
    assert_eq!(opened["verdict"], "inconclusive");
}
