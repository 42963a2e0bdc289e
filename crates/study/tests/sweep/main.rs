//! Sweeps: rows in every format, and continuation of interrupted sweeps.

use netburn_parallel::Cancel;
use netburn_study::sweep::{
    Access, Column, Folder, FolderError, Grid, InvalidCellPolicy, MetricValue, Row, Rows, Selection, Unit, Vary, chart,
    check, csv, json, parquet, run, table,
};
use parquet_reader::{Field, FileReader, SerializedFileReader};
use proptest::prelude::*;
use std::path::Path;

mod cells;
mod shards;

mod parquet_reader {
    pub(super) use ::parquet::file::reader::{FileReader, SerializedFileReader};
    pub(super) use ::parquet::record::Field;
}

fn column(name: &str, unit: Unit, heading: Option<&str>) -> Column {
    Column {
        name: name.to_owned(),
        unit,
        heading: heading.map(str::to_owned),
    }
}

fn row(number: u64, values: [&str; 2], seed: u64, verdict: &'static str, metrics: [Option<f64>; 4]) -> Row {
    let metrics = metrics.into_iter().map(MetricValue::from);
    Row {
        run: number,
        values: values.map(str::to_owned).to_vec(),
        seed: Some(seed),
        metrics: [MetricValue::Text(verdict)].into_iter().chain(metrics).collect(),
    }
}

/// Two queues at two distances, two seeds each; one run is missing.
fn rows() -> Rows {
    Rows {
        keys: vec!["ap.home.queue".to_owned(), "station.b.signal".to_owned()],
        columns: vec![
            column("verdict", Unit::Verdict, Some("VERDICT")),
            // 25 MB in 10 s are 20 Mbit/s.
            column("throughput_mbps", Unit::Mbps, Some("Mbit/s")),
            column("b.airtime_share", Unit::Share, Some("b air %")),
            column("b.voip.p95_ms", Unit::Ms, Some("b voip p95 ms")),
            column("b.voip.goal_misses", Unit::Count, None),
        ],
        repeat: 2,
        total_runs: 8,
        rows: vec![
            row(
                1,
                ["fifo", "-80 dBm"],
                1,
                "fail",
                [Some(20.0), Some(0.25), Some(412.5), Some(7.0)],
            ),
            row(
                2,
                ["fifo", "-80 dBm"],
                9,
                "fail",
                [Some(22.0), Some(0.25), Some(387.5), Some(5.0)],
            ),
            row(
                3,
                ["fifo", "-60 dBm"],
                1,
                "pass",
                [Some(40.0), Some(0.5), Some(100.0), Some(0.0)],
            ),
            row(
                5,
                ["airtime", "-80 dBm"],
                1,
                "pass",
                [Some(18.0), Some(0.5), Some(9.875), Some(0.0)],
            ),
            row(
                6,
                ["airtime", "-80 dBm"],
                9,
                "none",
                [Some(18.0), None, None, Some(0.0)],
            ),
        ],
    }
}

#[test]
fn the_table_has_the_main_metrics() {
    // Medians of two runs: 21 of 20 and 22, 400 of 412.5 and 387.5.
    let expected = "\
ap.home.queue  station.b.signal  RUNS  VERDICT         Mbit/s  b air %  b voip p95 ms
fifo           -80 dBm              2  fail              21.0       25            400
fifo           -60 dBm              1  pass              40.0       50            100
airtime        -80 dBm              2  1 pass, 1 none    18.0       50           9.88
";
    assert_eq!(table(&rows(), 100, false), expected);
    for width in [0, 20, 60, 1000] {
        assert!(table(&rows(), width, true).contains("fifo"));
    }
}

#[test]
fn a_chart_is_medians_in_groups() {
    let rows = rows();
    let p95 = chart::Chart::new(&rows, 3);
    // The median of 412.5 and 387.5 is 400, four times 100; 9.875 is rounded up to two eighths of a column's width.
    let full = "█".repeat(60);
    let expected = format!(
        "b.voip.p95_ms (ms), median and range of 1 to 2 seeds over ap.home.queue
station.b.signal = -80 dBm
  fifo     {full} 400 [388 to 412]
  airtime  █▌ 9.88 [9.88 to 9.88]
station.b.signal = -60 dBm
  fifo     {} 100 [100 to 100]
",
        "█".repeat(15)
    );
    assert_eq!(chart::text(&p95, 101), expected);
    let svg = chart::svg(&p95);
    for part in [
        "b.voip.p95_ms (ms), median and range of 1 to 2 seeds",
        "ap.home.queue",
        "station.b.signal = -60 dBm",
        ">200 ms<",
        ">airtime<",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    assert!(svg.matches("<rect").count() == 4, "{svg}");
    // Default metric: p95 values are in three of five rows, but the highest p95 is not a column here.
    assert_eq!(rows.metric(), 1);
    let empty = Rows {
        rows: Vec::new(),
        ..rows
    };
    let nothing = chart::Chart::new(&empty, 3);
    assert!(chart::text(&nothing, 80).contains("no run has a value of this metric"));
    assert!(chart::svg(&nothing).ends_with("</svg>\n"));
}

#[test]
fn further_keys_are_panels() {
    let mut rows = rows();
    rows.keys.push("station.b.speed".to_owned());
    let all = rows.rows.clone();
    for row in &mut rows.rows {
        row.values.push("1 m/s".to_owned());
    }
    rows.rows.extend(all.into_iter().map(|mut row| {
        row.values.push("2 m/s".to_owned());
        row
    }));
    let p95 = chart::Chart::new(&rows, 3);
    let text = chart::text(&p95, 100);
    assert!(
        text.contains("station.b.signal = -80 dBm, station.b.speed = 2 m/s\n"),
        "{text}"
    );
    let svg = chart::svg(&p95);
    // A heading for each panel, one legend, and the bars of `a_chart_is_medians_in_groups` twice.
    for part in [
        ">station.b.speed = 1 m/s</text>",
        ">station.b.speed = 2 m/s</text>",
        ">station.b.signal = -80 dBm</text>",
    ] {
        assert_eq!(svg.matches(part).count(), 1, "{part}: {svg}");
    }
    assert_eq!(svg.matches("<rect").count(), 7, "{svg}");
}

/// Parses an RFC 4180 text.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (quoted, c) {
            (true, '"') if chars.peek() == Some(&'"') => field.extend(chars.next()),
            (true, '"') => quoted = false,
            (true, c) => field.push(c),
            (false, '"') => quoted = true,
            (false, ',') => record.push(std::mem::take(&mut field)),
            (false, '\r') => {
                assert_eq!(chars.next(), Some('\n'));
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            (false, c) => field.push(c),
        }
    }
    assert!(record.is_empty() && field.is_empty(), "the last line has an end");
    records
}

#[test]
fn columns_read_back() {
    let rows = rows();
    let bytes = parquet(&rows).unwrap();
    let reader = SerializedFileReader::new(temporary(&bytes)).unwrap();
    let mut read = reader.get_row_iter(None).unwrap();
    for row in &rows.rows {
        let got: Vec<(String, Field)> = read.next().unwrap().unwrap().into_columns();
        let names: Vec<&str> = got.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names[..4], ["run", "ap.home.queue", "station.b.signal", "run_seed"]);
        assert_eq!(got[0].1, Field::ULong(row.run));
        assert_eq!(got[1].1, Field::Str(row.values[0].clone()));
        assert_eq!(got[3].1, Field::ULong(row.seed.unwrap()));
        for ((name, field), (column, metric)) in got[4..].iter().zip(rows.columns.iter().zip(&row.metrics)) {
            assert_eq!(*name, column.name);
            assert_eq!(
                *field,
                match metric {
                    MetricValue::None => Field::Null,
                    MetricValue::Number(value) => Field::Double(*value),
                    MetricValue::Text(text) => Field::Str((*text).to_owned()),
                }
            );
        }
    }
    assert!(read.next().is_none());
}

fn temporary(bytes: &[u8]) -> std::fs::File {
    use std::io::{Seek as _, Write as _};
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

#[test]
fn json_has_every_metric_by_name() {
    let document = json(&rows());
    assert_eq!(document["schema"], "netburn.sweep/1");
    assert_eq!((&document["runs"], &document["repeat"]), (&8.into(), &2.into()));
    assert_eq!(
        document["columns"][3],
        serde_json::json!({ "name": "b.voip.p95_ms", "unit": "ms" })
    );
    let last = &document["rows"][4];
    assert_eq!(last["values"]["station.b.signal"], "-80 dBm");
    assert_eq!(
        (&last["run_seed"], &last["metrics"]["throughput_mbps"]),
        (&9.into(), &18.0.into())
    );
    assert!(last["metrics"]["b.voip.p95_ms"].is_null());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// All values survive a round trip, and numbers exactly.
    #[test]
    fn csv_reads_back(values in prop::collection::vec(("[a-c,\"\r\n é=]{0,8}", any::<f64>()), 0..12)) {
        let mut rows = rows();
        rows.rows = values
            .iter()
            .zip(1..)
            .map(|((value, metric), number)| row(number, [value, "b"], number, "pass", [Some(*metric), None, None, None]))
            .collect();
        let records = records(&csv(&rows));
        prop_assert_eq!(&records[0][..], ["run", "ap.home.queue", "station.b.signal", "run_seed", "verdict", "throughput_mbps",
                                         "b.airtime_share", "b.voip.p95_ms", "b.voip.goal_misses"]);
        prop_assert_eq!(records.len(), 1 + values.len());
        for (record, (value, metric)) in records[1..].iter().zip(&values) {
            prop_assert_eq!(&record[1], value);
            if metric.is_finite() {
prop_assert_eq!(record[5].parse::<f64>().unwrap(), *metric)
} else {
prop_assert_eq!(&record[5], "")
            }
            prop_assert_eq!(&record[6], "");
        }
    }
}

/// One second of a caller.
const HOUSE: &str = "
duration = \"1 s\"
baseline = \"100 ms\"
drain = \"500 ms\"
repeat = 3
[ap.home]
[ap.home.radio.5g]
standard = \"802.11n\"
[station.caller]
joins = \"home.5g\"
signal = \"-60 dBm\"
workload = [\"voip\", \"probe\"]
";

/// The caller at two distances, with three seeds.
fn grid() -> Grid {
    let document = netburn_scenario::Document::from_toml("house.toml", HOUSE).unwrap();
    let varies = ["station.caller.signal=-60dBm,-75dBm", "ap.home.queue=fifo,airtime"];
    Grid::new(document, &varies.map(|text| Vary::parse(text).unwrap())).unwrap()
}

#[test]
fn an_interrupted_sweep_continues_with_the_same_results() {
    let (grid, go) = (grid(), Cancel::default());
    assert_eq!((grid.cells(), grid.runs()), (4, 12));
    let checked = check(&grid, 1, &go, InvalidCellPolicy::Reject, &|_| ())
        .unwrap()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let open = |name: &str| Folder::open(&dir.path().join(name), &grid, &checked, Access::Exclusive);
    let all = Selection::default();
    // Interrupted after two runs on one thread, continued on three.
    let folder = open("stopped").unwrap();
    let cancel = Cancel::default();
    let left = run(&grid, &folder, &all, 1, &cancel, &|progress| {
        assert!(progress.finished + progress.left == 12 && (0.0..=1.0).contains(&progress.share));
        if progress.finished >= 2 {
            cancel.stop();
        }
    });
    assert_eq!((left.unwrap(), folder.finished()), (10, 2));
    assert_eq!(folder.rows(&grid).rows.len(), 2);
    assert!(matches!(open("stopped"), Err(FolderError::Busy(_))));
    drop(folder);
    let folder = open("stopped").unwrap();
    assert_eq!(folder.due(&grid, &all).runs, (2..12).collect::<Vec<u64>>());
    assert_eq!(run(&grid, &folder, &all, 3, &go, &|_| ()).unwrap(), 0);
    let whole = open("whole").unwrap();
    assert_eq!(run(&grid, &whole, &all, 2, &go, &|_| ()).unwrap(), 0);
    let rows = whole.rows(&grid);
    assert_eq!(rows, folder.rows(&grid));
    // Rows that are read from the files are the same.
    drop(whole);
    assert_eq!(rows, open("whole").unwrap().rows(&grid));
    let numbers: Vec<u64> = rows.rows.iter().map(|row| row.run).collect();
    assert_eq!(numbers, (1..=12).collect::<Vec<u64>>());
    assert_eq!(rows.rows[3].values, ["-60dBm", "airtime"]);
    assert_eq!(rows.rows[0].seed, rows.rows[3].seed);
    assert!(rows.rows[0].seed != rows.rows[1].seed);
}

#[test]
fn an_incomplete_folder_is_created_again() {
    let (grid, go) = (grid(), Cancel::default());
    let checked = check(&grid, 2, &go, InvalidCellPolicy::Reject, &|_| ())
        .unwrap()
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let made = |name: &str, files: &[&str]| {
        let path = dir.path().join(name);
        std::fs::create_dir(&path).unwrap();
        for file in files {
            std::fs::write(path.join(file), "{").unwrap();
        }
        Folder::open(&path, &grid, &checked, Access::Exclusive)
    };
    assert_eq!(made("empty", &[]).unwrap().finished(), 0);
    let killed = made("killed", &["sweep.json.17-1a2b-0.tmp"]).unwrap();
    assert_eq!(killed.finished(), 0);
    assert!(!killed.path().join("sweep.json.17-1a2b-0.tmp").exists());
    assert!(matches!(made("notes", &["notes"]), Err(FolderError::NotSweep(_))));
    assert!(matches!(made("torn", &["sweep.json"]), Err(FolderError::NotSweep(_))));
    assert!(matches!(
        Folder::open(Path::new("/dev/null/x"), &grid, &checked, Access::Exclusive),
        Err(FolderError::Create { .. })
    ));
}
