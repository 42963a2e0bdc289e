//! A record with a table that was damaged after it was written: every command that reads it names the table.

use crate::support::{Bench, SMALL, finish};
use std::fs;

const TABLES: [&str; 6] = ["operations", "intervals", "airtime", "connections", "link", "events"];

/// Changes two bytes in the middle of a table's file. Its length stays the same.
fn damage(bench: &Bench, table: &str) {
    let path = bench.path(&format!("run/{table}.parquet"));
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    bytes[middle + 1] ^= 0xff;
    fs::write(&path, bytes).unwrap();
}

#[test]
fn every_command_names_a_damaged_table() {
    for table in TABLES {
        let bench = Bench::new();
        bench.write("small.toml", SMALL);
        bench.simulate("small.toml", "run", &[]);
        bench.simulate("small.toml", "other", &["--seed", "2"]);
        damage(&bench, table);
        let named = format!("{table}.parquet is damaged: found CRC-32 ");

        let report = finish(bench.netburn(["report", "run"])).expect(0);
        assert!(report.stderr.contains(&named), "{}", report.stderr);
        let page = fs::read_to_string(bench.path("run/report.html")).unwrap();
        assert!(page.contains(&format!("{table}.parquet is damaged")), "{table}");
        for format in ["csv", "json", "junit", "openmetrics"] {
            let export = finish(bench.netburn(["export", "run", "--to", format])).expect(2);
            assert!(export.stderr.contains(&named), "{format}: {}", export.stderr);
        }
        let explain = finish(bench.netburn(["explain", "run"])).expect(2);
        assert!(explain.stderr.contains(&named), "{}", explain.stderr);
        // The summary in run.json is undamaged, so the run can still be compared.
        let compare = finish(bench.netburn(["compare", "run", "--against", "other"])).expect(0);
        assert!(compare.stderr.contains(&named), "{}", compare.stderr);
    }
}
