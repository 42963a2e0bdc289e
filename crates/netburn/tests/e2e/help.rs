//! Snapshots of all help pages.

use crate::common::{Bench, finish};

fn page(args: &[&str]) -> String {
    finish(Bench::new().netburn(args)).expect(0).out()
}

#[test]
fn help_of_netburn() {
    insta::assert_snapshot!(page(&["--help"]));
}

#[test]
fn help_of_run() {
    insta::assert_snapshot!(page(&["run", "--help"]));
}

#[test]
fn help_of_crosscheck() {
    insta::assert_snapshot!(page(&["crosscheck", "--help"]));
}

#[test]
fn help_of_sweep() {
    insta::assert_snapshot!(page(&["sweep", "--help"]));
}

#[test]
fn help_of_plan() {
    insta::assert_snapshot!(page(&["plan", "--help"]));
}

#[test]
fn help_of_serve() {
    insta::assert_snapshot!(page(&["serve", "--help"]));
}

#[test]
fn help_of_fetch() {
    insta::assert_snapshot!(page(&["fetch", "--help"]));
}

#[test]
fn help_of_report() {
    insta::assert_snapshot!(page(&["report", "--help"]));
}

#[test]
fn help_of_compare() {
    insta::assert_snapshot!(page(&["compare", "--help"]));
}

#[test]
fn help_of_explain() {
    insta::assert_snapshot!(page(&["explain", "--help"]));
}

#[test]
fn help_of_runs() {
    insta::assert_snapshot!(page(&["runs", "--help"]));
}

#[test]
fn help_of_export() {
    insta::assert_snapshot!(page(&["export", "--help"]));
}

#[test]
fn help_of_import() {
    insta::assert_snapshot!(page(&["import", "--help"]));
}

#[test]
fn help_of_ui() {
    insta::assert_snapshot!(page(&["ui", "--help"]));
}

#[test]
fn help_of_decode() {
    insta::assert_snapshot!(page(&["decode", "--help"]));
}

#[test]
fn help_of_validate() {
    insta::assert_snapshot!(page(&["validate", "--help"]));
}

#[test]
fn help_of_lab() {
    insta::assert_snapshot!(page(&["lab", "--help"]));
}

#[test]
fn help_of_doctor() {
    insta::assert_snapshot!(page(&["doctor", "--help"]));
}

#[test]
fn help_of_fleet() {
    insta::assert_snapshot!(page(&["fleet", "--help"]));
}

#[test]
fn help_of_fleet_serve() {
    insta::assert_snapshot!(page(&["fleet", "serve", "--help"]));
}

#[test]
fn help_of_fleet_join() {
    insta::assert_snapshot!(page(&["fleet", "join", "--help"]));
}

#[test]
fn help_of_schema() {
    insta::assert_snapshot!(page(&["schema", "--help"]));
}

#[test]
fn an_unknown_option_is_wrong_input() {
    let ended = finish(Bench::new().netburn(["run", "four-uses", "--sed", "3"])).expect(2);
    assert!(
        ended.stdout.is_empty() && ended.stderr.contains("--seed"),
        "{}",
        ended.stderr
    );
}
