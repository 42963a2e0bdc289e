//! Replays the fuzzer's inputs.

use std::path::Path;

#[test]
fn every_input_of_the_corpus_keeps_the_laws() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/datagrams");
    let mut inputs: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    inputs.sort();
    assert!(inputs.len() >= 8, "{inputs:?}");
    for input in inputs {
        netburn_webrtc::fuzz::datagrams(&std::fs::read(&input).unwrap());
    }
}
