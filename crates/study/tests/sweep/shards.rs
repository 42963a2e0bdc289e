//! Shards of a sweep, and cells that are repeated until a precision is reached.

use super::{HOUSE, grid};
use netburn_parallel::Cancel;
use netburn_study::sweep::{
    Access, Cells, Folder, FolderError, Grid, InvalidCellPolicy, Selection, Target, Vary, check, run, write_results,
};
use std::path::Path;

/// Names and contents of the result files of a folder.
fn results(path: &Path) -> Vec<(String, Vec<u8>)> {
    let files = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files
        .filter(|path| path.is_file())
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn shards_of_one_folder_and_of_several_equal_the_whole() {
    let (grid, go) = (grid(), Cancel::default());
    let checked = check(&grid, 2, &go, InvalidCellPolicy::Reject, &|_| ())
        .unwrap()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let open = |name: &str, access| Folder::open(&dir.path().join(name), &grid, &checked, access);
    let shard = |text: &str| Selection {
        shard: Some(text.parse().unwrap()),
        target: None,
    };
    let write = |folder: &Folder| write_results(folder, &grid, &folder.rows(&grid), None).unwrap();
    let whole = open("whole", Access::Exclusive).unwrap();
    run(&grid, &whole, &Selection::default(), 2, &go, &|_| ()).unwrap();
    write(&whole);
    let expected = results(&dir.path().join("whole"));
    let names: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "cells.csv",
            "chart.svg",
            "effects.txt",
            "rows.csv",
            "rows.parquet",
            "sweep.json"
        ]
    );

    // Both shards have the folder open. The second sees the runs of the first.
    let first = open("shared", Access::Shared).unwrap();
    let second = open("shared", Access::Shared).unwrap();
    assert!(matches!(open("shared", Access::Exclusive), Err(FolderError::Busy(_))));
    assert_eq!(run(&grid, &first, &shard("1/2"), 1, &go, &|_| ()).unwrap(), 0);
    assert_eq!(first.finished(), 6);
    // A shard that SIGKILL ended leaves a file. It could also be one that the other shard is writing.
    let left = dir.path().join("shared/runs/7.json.17-1a2b-0.tmp");
    std::fs::write(&left, "{").unwrap();
    assert_eq!(first.remaining(&grid, &shard("1/2")).unwrap(), 6);
    assert!(left.exists());
    assert_eq!(run(&grid, &second, &shard("2/2"), 2, &go, &|_| ()).unwrap(), 0);
    assert_eq!(second.remaining(&grid, &shard("2/2")).unwrap(), 0);
    assert!(!left.exists());
    write(&second);
    assert_eq!(results(&dir.path().join("shared")), expected);

    // A folder for each shard.
    for (name, text) in [("a", "1/3"), ("b", "2/3"), ("c", "3/3")] {
        let folder = open(name, Access::Shared).unwrap();
        run(&grid, &folder, &shard(text), 1, &go, &|_| ()).unwrap();
        assert_eq!(folder.finished(), 4);
    }
    let merged = open("merged", Access::Exclusive).unwrap();
    for name in ["a", "b", "c"] {
        assert_eq!(merged.merge(&dir.path().join(name), &grid).unwrap(), 4);
    }
    assert_eq!(merged.merge(&dir.path().join("a"), &grid).unwrap(), 0);
    assert_eq!(merged.due(&grid, &Selection::default()).left, 0);
    write(&merged);
    assert_eq!(results(&dir.path().join("merged")), expected);
    assert!(matches!(
        merged.merge(&dir.path().join("nowhere"), &grid),
        Err(FolderError::NotSweep(_))
    ));
}

#[test]
fn a_precision_decides_the_number_of_runs_of_each_cell() {
    let mut document = netburn_scenario::Document::from_toml("house.toml", HOUSE).unwrap();
    document.set("repeat", "40").unwrap();
    let varies = ["station.caller.signal=-60dBm,-75dBm"].map(|text| Vary::parse(text).unwrap());
    let (grid, go) = (Grid::new(document, &varies).unwrap(), Cancel::default());
    let checked = check(&grid, 2, &go, InvalidCellPolicy::Reject, &|_| ())
        .unwrap()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let open = |name: &str| Folder::open(&dir.path().join(name), &grid, &checked, Access::Exclusive).unwrap();
    let is_metric = |name: &str| name == "caller.probe.p50_ms";
    let place = checked
        .columns
        .iter()
        .position(|column| is_metric(&column.name))
        .unwrap();
    let selection = |precision: &str| Selection {
        shard: None,
        target: Some(Target::new(&checked.columns, &checked.columns[place], precision.parse().unwrap()).unwrap()),
    };
    // Six runs are enough for ±100 %.
    let coarse = open("coarse");
    assert_eq!(coarse.due(&grid, &selection("100%")).left, 80);
    assert_eq!(run(&grid, &coarse, &selection("100%"), 2, &go, &|_| ()).unwrap(), 0);
    assert_eq!(coarse.finished(), 12);
    let runs: Vec<u64> = coarse.rows(&grid).rows.iter().map(|row| row.run).collect();
    assert_eq!(runs, (1..=6).chain(41..=46).collect::<Vec<u64>>());
    // One thread and several, with an interruption, need the same runs.
    let fine = open("fine");
    let stop = Cancel::default();
    let left = run(&grid, &fine, &selection("0.5%"), 3, &stop, &|progress| {
        if progress.finished >= 7 {
            stop.stop();
        }
    });
    assert!(left.unwrap() > 0);
    drop(fine);
    let fine = open("fine");
    assert_eq!(run(&grid, &fine, &selection("0.5%"), 1, &go, &|_| ()).unwrap(), 0);
    let again = open("again");
    assert_eq!(run(&grid, &again, &selection("0.5%"), 2, &go, &|_| ()).unwrap(), 0);
    let rows = fine.rows(&grid);
    assert_eq!(rows, again.rows(&grid));
    for cell in &Cells::new(&rows).cells {
        let estimate = cell.estimate(place).unwrap();
        let (low, high) = estimate.interval.unwrap();
        let runs = cell.rows.len();
        assert!(
            (high - low) / 2.0 <= 0.005 * estimate.median || runs == 40,
            "{estimate:?}"
        );
        // The numbers of runs after which the interval is computed.
        assert!([6, 8, 10, 12, 15, 18, 22, 27, 33, 40].contains(&runs), "{runs}");
    }
}
