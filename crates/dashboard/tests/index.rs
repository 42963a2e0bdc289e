//! Cache file of the index.

use netburn_dashboard::index::{Index, RefreshMode};
use netburn_record::{Environment, Header, Recorder, RunStatus, UnixTime};
use netburn_scenario::{Plan, Station};
use std::path::Path;

const CACHE: &str = ".netburn-index.json";

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

fn refreshed(dir: &Path) -> Index {
    let mut index = Index::new(dir);
    index.refresh(RefreshMode::Full).unwrap();
    index
}

fn scenarios(index: &Index) -> Vec<&str> {
    let briefs = index.runs().values().filter_map(|entry| entry.brief());
    briefs.map(|brief| brief.scenario.as_str()).collect()
}

#[test]
fn a_restart_uses_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        record(&dir.path().join(name), name);
    }
    let first = refreshed(dir.path());
    let again = Index::new(dir.path());
    assert_eq!(again.runs(), first.runs(), "without reading any run");
    // Changed runs are read again, and deleted runs are removed.
    std::fs::remove_dir_all(dir.path().join("a")).unwrap();
    std::fs::remove_dir_all(dir.path().join("b")).unwrap();
    record(&dir.path().join("b"), "another");
    assert_eq!(scenarios(&refreshed(dir.path())), ["another"]);
}

#[test]
fn a_damaged_cache_is_ignored() {
    let dir = tempfile::tempdir().unwrap();
    record(&dir.path().join("a"), "house");
    let whole = refreshed(dir.path());
    let cache = dir.path().join(CACHE);
    let text = std::fs::read(&cache).unwrap();
    for cut in (0..text.len()).step_by(7) {
        std::fs::write(&cache, &text[..cut]).unwrap();
        assert_eq!(refreshed(dir.path()).runs(), whole.runs(), "cut at {cut}");
    }
    let other = String::from_utf8(text)
        .unwrap()
        .replace("netburn.index/1", "netburn.index/2");
    std::fs::write(&cache, other).unwrap();
    assert!(
        Index::new(dir.path()).runs().is_empty(),
        "a cache of another version is ignored"
    );
    assert_eq!(refreshed(dir.path()).runs(), whole.runs());
}

#[test]
fn a_read_only_directory_is_indexed() {
    let dir = tempfile::tempdir().unwrap();
    record(&dir.path().join("a"), "house");
    // The tests may run as root. Not even root can replace a non-empty folder by a file.
    std::fs::create_dir_all(dir.path().join(CACHE).join("full")).unwrap();
    let mut index = refreshed(dir.path());
    assert_eq!(scenarios(&index), ["house"]);
    index.refresh(RefreshMode::Quick).unwrap();
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 2, "no temporary file is left");
}

#[test]
fn a_quick_refresh_detects_new_and_deleted_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut index = refreshed(dir.path());
    // File times have a resolution of milliseconds: a change in the same tick as the last refresh is not detected.
    let folder = std::fs::File::open(dir.path()).unwrap();
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(10);
    folder.set_modified(earlier).unwrap();
    index.refresh(RefreshMode::Quick).unwrap();
    let before = index.changes();
    index.refresh(RefreshMode::Quick).unwrap();
    assert_eq!(index.changes(), before);
    record(&dir.path().join("a"), "house");
    index.refresh(RefreshMode::Quick).unwrap();
    assert_eq!(scenarios(&index), ["house"]);
    std::fs::remove_dir_all(dir.path().join("a")).unwrap();
    index.refresh(RefreshMode::Quick).unwrap();
    assert!(index.runs().is_empty() && index.changes() > before);
}

/// `netburn demo` records `before` and `after` in a folder of its own.
#[test]
fn runs_in_a_group_are_indexed_and_new_ones_are_detected() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    record(&at("single"), "single");
    record(&at("demo/before"), "before");
    std::fs::create_dir_all(at("demo/.hidden")).unwrap();
    std::fs::create_dir_all(at("notes/text/deep")).unwrap();
    // A third level is no run of this directory.
    record(&at("notes/text/deep"), "deep");
    let mut index = refreshed(dir.path());
    let names = |index: &Index| index.runs().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&index), ["demo/before", "single"]);
    let listed = netburn_record::run_list::list(dir.path()).unwrap();
    let paths: Vec<_> = listed.iter().map(|run| run.path.clone()).collect();
    assert_eq!(paths, [at("demo/before"), at("single")]);
    // A new run changes the group only.
    let earlier = std::time::SystemTime::now() - std::time::Duration::from_secs(10);
    for folder in [dir.path(), &at("demo")] {
        std::fs::File::open(folder).unwrap().set_modified(earlier).unwrap();
    }
    index.refresh(RefreshMode::Quick).unwrap();
    record(&at("demo/after"), "after");
    std::fs::File::open(dir.path()).unwrap().set_modified(earlier).unwrap();
    index.refresh(RefreshMode::Quick).unwrap();
    assert_eq!(names(&index), ["demo/after", "demo/before", "single"]);
    assert_eq!(
        netburn_dashboard::name::folder(dir.path(), "demo/after"),
        Some(at("demo/after"))
    );
    std::fs::remove_dir_all(at("demo")).unwrap();
    index.refresh(RefreshMode::Quick).unwrap();
    assert_eq!(names(&index), ["single"]);
}
