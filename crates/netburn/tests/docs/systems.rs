//! The page of the systems.

use crate::page::{check_generated, replace};
use netburn_platform::systems::{FACILITIES, SYSTEMS, VERIFIED};
use std::fmt::Write;

#[test]
fn the_systems_are_those_of_the_code() {
    let mut table = format!("| value | {} | otherwise |\n", SYSTEMS.join(" | "));
    writeln!(table, "|---|{}---|", "---|".repeat(SYSTEMS.len())).unwrap();
    for facility in FACILITIES {
        let sources = facility.sources.join(" | ");
        writeln!(table, "| {} | {sources} | {} |", facility.name, facility.otherwise).unwrap();
    }
    writeln!(table, "| *verified by* | {} | |", VERIFIED.join(" | ")).unwrap();
    check_generated("systems.md", |page| replace(page, "systems", &table));
}
