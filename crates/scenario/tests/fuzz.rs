//! Runs the fuzz target on the corpus, on mutations of it, and on random input.

use netburn_scenario::{built_in_scenarios, fuzz};
use netburn_units::{RandomStream, Seed};

fn corpus() -> Vec<Vec<u8>> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/scenario");
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let files = paths.iter().map(|path| std::fs::read(path).expect("a file"));
    files
        .chain(built_in_scenarios().iter().map(|(_, text)| text.as_bytes().to_vec()))
        .collect()
}

#[test]
fn the_corpus() {
    for input in corpus() {
        fuzz::check(&input);
    }
}

#[test]
fn mutations_of_the_corpus() {
    let corpus = corpus();
    let mut random = Seed(1).stream("mutation", 0);
    for _ in 0..2_000 {
        let mut input = corpus[below(&mut random, corpus.len())].clone();
        for _ in 0..=below(&mut random, 6) {
            mutate(&mut input, &corpus, &mut random);
        }
        input.truncate(6_000);
        fuzz::check(&input);
    }
}

#[test]
fn noise() {
    let mut random = Seed(2).stream("noise", 0);
    let alphabet = b"[]{}=\"'.,#\n ab5g-_0e\\u\xc3\xa9";
    for _ in 0..2_000 {
        let input: Vec<u8> = (0..below(&mut random, 200))
            .map(|_| alphabet[below(&mut random, alphabet.len())])
            .collect();
        fuzz::check(&input);
    }
}

fn below(random: &mut RandomStream, bound: usize) -> usize {
    random.below(bound as u64) as usize
}

/// Applies one mutation: changes, duplicates, removes or moves a byte, a word or a line.
fn mutate(input: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut RandomStream) {
    if input.is_empty() {
        input.extend_from_slice(b"[station.a]\n");
    }
    let at = below(random, input.len());
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> { bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect() };
    match below(random, 6) {
        0 => input[at] = random.next_u64() as u8,
        1 => {
            let end = (at + 1 + below(random, 12)).min(input.len());
            input.drain(at..end);
        }
        2 => {
            let end = (at + 1 + below(random, 12)).min(input.len());
            let part = input[at..end].to_vec();
            input.splice(at..at, part);
        }
        3 => {
            let mut all = lines(input);
            let line = below(random, all.len());
            let copy = all[line].clone();
            all.insert(below(random, all.len()), copy);
            *input = all.concat();
        }
        4 => {
            let mut all = lines(input);
            let (a, b) = (below(random, all.len()), below(random, all.len()));
            all.swap(a, b);
            *input = all.concat();
        }
        _ => {
            let others = lines(&corpus[below(random, corpus.len())]);
            if let Some(line) = others.get(below(random, others.len().max(1))) {
                let mut all = lines(input);
                all.insert(below(random, all.len()), line.clone());
                *input = all.concat();
            }
        }
    }
}
