//! The same results as on Linux, the page of `netburn ui`, and a member of a fleet.

use crate::support::fleet::Fleet;
use crate::support::{Bench, finish, start, station};
use crate::wine::Wine;
use std::io::{Read, Write};
use std::net::TcpStream;

const ONE: &str = r#"
duration = "4 s"
baseline = "2 s"
drain = "1 s"
[station.reader]
agent = "windows"
workload = ["voip", "probe", "browsing"]
"#;

/// A simulation depends on the scenario and the seed only.
#[test]
fn a_simulation_has_the_tables_of_linux() {
    let (wine, bench) = (Wine::start(), Bench::small());
    bench.simulate("small.toml", "linux", &["--seed", "1"]);
    let run = ["run", "small.toml", "--on", "simulate", "--seed", "1", "--out", "other"];
    let ended = finish(wine.netburn(&bench, &run)).expect(0);
    let mut tables = 0;
    for file in std::fs::read_dir(bench.path("linux")).unwrap() {
        let name = file.unwrap().file_name();
        let read = |folder: &str| std::fs::read(bench.path(folder).join(&name)).unwrap();
        if name.to_str().unwrap().ends_with(".parquet") {
            assert!(read("linux") == read("other"), "{name:?} differs");
            tables += 1;
        }
    }
    assert!(tables >= 3, "{tables}");
    // Linux reads the record of Windows, and the report is the same text.
    let report = |folder| finish(bench.netburn(["report", folder])).expect(0).out();
    assert_eq!(report("other").replace("other", "linux"), report("linux"));
    assert!(ended.out().contains("caller"), "{}", ended.out());
}

#[test]
fn the_lab_is_an_error_with_its_reason() {
    let (wine, bench) = (Wine::start(), Bench::small());
    let ended = finish(wine.netburn(&bench, &["run", "small.toml", "--on", "lab"])).expect(2);
    assert!(ended.stderr.contains("Linux"), "{}", ended.stderr);
}

#[test]
fn the_page_answers_a_browser() {
    let (wine, bench) = (Wine::start(), Bench::new());
    let arguments = [
        "ui",
        "--listen",
        "127.0.0.1:0",
        "--join-listen",
        "127.0.0.1:0",
        "--no-browser",
    ];
    let mut ui = start(wine.netburn(&bench, &arguments));
    ui.wait_for("the address", |ui| ui.stdout_so_far().contains('\n'));
    let printed = ui.stdout_so_far();
    let (_, rest) = printed.split_once("http://").unwrap();
    let address = rest.split('/').next().unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET /runs/ HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains("netburn"), "{answer}");
}

/// The member connects with TLS, measures, and delivers rows whose clocks agree with those of Linux.
#[test]
fn a_member_measures_for_a_controller_on_linux() {
    let (wine, fleet) = (Wine::start(), Fleet::new());
    fleet.bench.write("one.toml", ONE);
    let join = ["fleet", "join", fleet.url(), "--name", "windows"];
    let mut member = start(wine.netburn(&fleet.bench, &join));
    member.wait_for("the member to join", |member| {
        member.stderr_so_far().contains("is in the fleet")
    });
    let listed = fleet.list();
    assert!(listed.to_string().contains("windows x86_64"), "{listed}");
    let run = ["run", "one.toml", "--on", "fleet", "--format", "json", "--out", "one"];
    let ended = finish(fleet.command(&run));
    let summary = ended.json();
    // The verdict depends on the machine; the operations do not.
    let reader = station(&summary, "reader");
    for workload in reader["workloads"].as_array().unwrap() {
        assert!(workload["operations"].as_u64().unwrap() > 0, "{workload:#}");
        assert_eq!(workload["failures"], 0, "{workload:#}");
    }
}
