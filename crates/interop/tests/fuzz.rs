//! Replays the corpus, and as many random inputs.

use netburn_interop::fuzz::{check_bundle, check_import};
use netburn_record::fuzz;
use std::path::Path;

/// The corpus, and 3000 inputs made from it.
#[test]
fn imports() {
    let corpus = fuzz::corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/import"));
    assert!(corpus.len() >= 8, "the corpus is there");
    for bytes in &corpus {
        check_import(bytes);
    }
    for bytes in fuzz::mutations(&corpus).take(3000) {
        check_import(&bytes);
    }
}

#[test]
fn bundles() {
    let corpus = fuzz::corpus(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/bundle"));
    assert!(corpus.len() >= 5, "the corpus is there");
    for bytes in &corpus {
        check_bundle(bytes);
    }
    for bytes in fuzz::mutations(&corpus).take(3000) {
        check_bundle(&bytes);
    }
}
