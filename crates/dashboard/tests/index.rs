//! What is kept beside the runs, and when it is of no use.

use netburn_dashboard::index::{Index, Look};
use netburn_record::{Environment, Header, Recorder, RunStatus, UnixTime};
use netburn_scenario::{Plan, Station};
use std::path::Path;

const KEPT: &str = ".netburn-index.json";

fn record(path: &Path, scenario: &str) {
    let header = Header {
        environment: Environment::Local,
        started: Some(UnixTime(1_795_285_800_000_000_000)),
        ..Header::simulated(Plan {
            stations: vec![Station::new("phone")],
            ..Plan::new(scenario)
        })
    };
    let recorder = Recorder::create(path, header).unwrap();
    recorder.finish(&RunStatus::Complete).unwrap();
}

fn looked(dir: &Path) -> Index {
    let mut index = Index::new(dir);
    index.refresh(Look::Whole).unwrap();
    index
}

fn scenarios(index: &Index) -> Vec<&str> {
    let briefs = index.runs().values().filter_map(|entry| entry.brief());
    briefs.map(|brief| brief.scenario.as_str()).collect()
}

#[test]
fn a_new_start_knows_what_the_last_one_read() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        record(&dir.path().join(name), name);
    }
    let first = looked(dir.path());
    let again = Index::new(dir.path());
    assert_eq!(again.runs(), first.runs(), "without looking at any run");
    // What changed meanwhile is read again, what is gone is forgotten.
    std::fs::remove_dir_all(dir.path().join("a")).unwrap();
    std::fs::remove_dir_all(dir.path().join("b")).unwrap();
    record(&dir.path().join("b"), "another");
    assert_eq!(scenarios(&looked(dir.path())), ["another"]);
}

#[test]
fn a_file_that_is_damaged_anywhere_costs_time_only() {
    let dir = tempfile::tempdir().unwrap();
    record(&dir.path().join("a"), "house");
    let whole = looked(dir.path());
    let kept = dir.path().join(KEPT);
    let text = std::fs::read(&kept).unwrap();
    for cut in (0..text.len()).step_by(7) {
        std::fs::write(&kept, &text[..cut]).unwrap();
        assert_eq!(looked(dir.path()).runs(), whole.runs(), "cut at {cut}");
    }
    let other = String::from_utf8(text)
        .unwrap()
        .replace("netburn.index/1", "netburn.index/2");
    std::fs::write(&kept, other).unwrap();
    assert!(
        Index::new(dir.path()).runs().is_empty(),
        "another version's is of no use"
    );
    assert_eq!(looked(dir.path()).runs(), whole.runs());
}

#[test]
fn a_directory_that_cannot_be_written_to_is_shown_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    record(&dir.path().join("a"), "house");
    // Whoever runs the tests may be allowed anything: a folder in the file's place can't be replaced by anybody.
    std::fs::create_dir_all(dir.path().join(KEPT).join("full")).unwrap();
    let mut index = looked(dir.path());
    assert_eq!(scenarios(&index), ["house"]);
    index.refresh(Look::Quick).unwrap();
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 2, "nothing half written stays");
}

#[test]
fn a_quick_look_sees_what_comes_goes_and_ends() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = looked(dir.path());
    // The kernel's clock for files has ticks of milliseconds: what comes in the same one as the folder itself isn't seen.
    let folder = std::fs::File::open(dir.path()).unwrap();
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(10);
    folder.set_modified(earlier).unwrap();
    index.refresh(Look::Quick).unwrap();
    let before = index.changes();
    index.refresh(Look::Quick).unwrap();
    assert_eq!(index.changes(), before);
    record(&dir.path().join("a"), "house");
    index.refresh(Look::Quick).unwrap();
    assert_eq!(scenarios(&index), ["house"]);
    std::fs::remove_dir_all(dir.path().join("a")).unwrap();
    index.refresh(Look::Quick).unwrap();
    assert!(index.runs().is_empty() && index.changes() > before);
}
