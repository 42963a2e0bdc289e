//! Time to list 10,000 runs: without a cache, after a restart, and with a current index.
//!
//! `cargo bench -p netburn-dashboard`; add `-- 1000` for another number of runs.

use netburn_dashboard::index::{Index, RefreshMode};
use netburn_dashboard::query::Query;
use netburn_record::{Environment, Header, Recorder, RunStatus, UnixTime};
use netburn_scenario::{Plan, Station, StationWorkload};
use netburn_units::Duration;
use netburn_workload::Config;
use std::path::Path;
use std::time::Instant;

fn main() {
    let count = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(10_000);
    let dir = std::env::temp_dir().join(format!("netburn-bench-list-{}", std::process::id()));
    create_runs(&dir, count);
    let mut index = timed("without a cache", || {
        let mut index = Index::new(&dir);
        index.refresh(RefreshMode::Full).expect("a directory");
        index
    });
    timed("full refresh", || {
        index.refresh(RefreshMode::Full).expect("a directory")
    });
    timed("quick refresh", || {
        index.refresh(RefreshMode::Quick).expect("a directory")
    });
    let mut index = timed("after a restart", || {
        let mut index = Index::new(&dir);
        index.refresh(RefreshMode::Full).expect("a directory");
        index
    });
    for query in [
        "",
        "q=station-3+house&sort=-throughput",
        "sort=scenario&from=9000&count=500",
    ] {
        let query = Query::parse(query);
        let bytes = timed("a response", || {
            serde_json::to_vec(&query.find(&index)).expect("a list").len()
        });
        println!("  of {bytes} bytes");
    }
    index.refresh(RefreshMode::Quick).expect("a directory");
    assert_eq!(index.runs().len(), count);
    std::fs::remove_dir_all(&dir).expect("our own folder");
}

fn timed<T>(label: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    println!("{label}: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    done
}

/// Creates one record with four stations, and copies of its document under other names.
fn create_runs(dir: &Path, count: usize) {
    let stations = (1..=4).map(|number| Station {
        workloads: vec![
            StationWorkload::new("browsing", Config::browsing()),
            StationWorkload::new("voip", Config::voip()),
        ],
        ..Station::new(&format!("station-{number}"))
    });
    let header = Header {
        environment: Environment::Local,
        started: Some(UnixTime(1_795_285_800_000_000_000)),
        ..Header::simulated(Plan {
            duration: Duration::from_secs(60),
            title: Some("Four stations in a house".into()),
            stations: stations.collect(),
            ..Plan::new("house")
        })
    };
    let first = dir.join("run-0");
    let recorder = Recorder::create(&first, header).expect("a folder");
    recorder.finish(&RunStatus::Complete).expect("a record");
    let text = std::fs::read_to_string(first.join("run.json")).expect("a document");
    for number in 1..count {
        let folder = dir.join(format!("run-{number}"));
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(folder.join("run.json"), &text).expect("a document");
    }
    println!("{count} runs with a document of {} bytes each", text.len());
}
