//! The entry points for a fuzzer.

use netburn_record::summary::Summariser;
use netburn_record::{RunStatus, Sink};
use netburn_scenario::Plan;

/// Reads bytes as another program's file. A readable file becomes a run that can be stored, read
/// and judged.
///
/// # Panics
/// When a readable file does not become a run.
pub fn check_import(bytes: &[u8]) {
    let Ok(imported) = crate::import::read(bytes, "fuzz") else {
        return;
    };
    let plan = Plan::from_json(&imported.header.plan.to_json()).expect("what is kept can be read again");
    assert_eq!(plan, imported.header.plan);
    let mut summary = Summariser::new(imported.header.clone());
    for row in &imported.rows {
        summary.put(row).expect("it takes everything");
    }
    let summary = summary.finish("fuzz", &RunStatus::Complete);
    assert_eq!(summary.stations.len(), plan.stations.len());
    assert!(summary.totals.throughput_mbps.is_finite());
}

/// Reads bytes as an uncompressed bundle.
///
/// # Panics
/// When a file has a name that leaves the folder, or two files have the same name.
pub fn check_bundle(bytes: &[u8]) {
    let mut names = std::collections::BTreeSet::new();
    let read = crate::bundle::entries(bytes, 1 << 20, &mut |name, content| {
        assert!(!name.starts_with('/') && name.split('/').all(|part| part != ".." && !part.is_empty()));
        assert!(names.insert(name.to_owned()), "{name} is there twice");
        let _ = std::io::copy(content, &mut std::io::sink());
        Ok(())
    });
    drop(read);
}
