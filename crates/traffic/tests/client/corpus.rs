//! Replays the client's fuzz corpus, and pseudo-random mutations of it.

use crate::util::{SETTLE, Scripted, calls, drive_one, new_calls};
use netburn_traffic::client::fuzz::{check_answer, check_chunked, check_url};
use netburn_units::{Duration, Seed};
use netburn_workload::{Config, Outcome};
use std::path::Path;

type Check = fn(&[u8]);

const TARGETS: [(&str, Check); 3] = [("answer", check_answer), ("chunked", check_chunked), ("url", check_url)];

#[test]
fn the_corpus_and_mutations_of_it_pass() {
    for (target, check) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        assert!(files.len() >= 12, "the corpus of {target} is there");
        let inputs: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
        inputs.iter().for_each(|input| check(input));
        let mut stream = Seed(2026).stream(target, 0);
        for _ in 0..3_000 {
            // An input of moderate length with a few bytes changed, duplicated or removed.
            let mut input = inputs[stream.below(inputs.len() as u64) as usize].clone();
            input.truncate(600);
            for _ in 0..=stream.below(4) {
                let at = stream.below(input.len() as u64 + 1) as usize;
                match stream.below(3) {
                    0 => input.insert(at, stream.next_u64() as u8),
                    1 if at < input.len() => input[at] = stream.next_u64() as u8,
                    _ if at < input.len() => drop(input.remove(at)),
                    _ => input.extend_from_within(at / 2..),
                }
            }
            check(&input);
        }
    }
}

#[test]
fn each_request_ends_for_any_response() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/answer");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let inputs: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    let server = Scripted::start(move |talk, number| {
        let mut stream = Seed(number).stream("what a server says", 0);
        while talk.request()?.is_some() {
            let mut input = inputs[stream.below(inputs.len() as u64) as usize].clone();
            for _ in 0..stream.below(3) {
                let at = stream.below(input.len() as u64) as usize;
                input[at] = stream.next_u64() as u8;
            }
            talk.say(&input[1..])?;
            if stream.below(2) == 0 {
                return Ok(());
            }
        }
        Ok(())
    });
    for config in [calls(5, 2), new_calls(5, 2)] {
        let config = Config {
            timeout: Duration::from_millis(300),
            ..config
        };
        let left = drive_one(&server.target(), config, 500, SETTLE);
        assert_eq!(left.operations.len(), 250);
        let ended = |o| matches!(o, Outcome::Finished | Outcome::Failed(_) | Outcome::TimedOut);
        assert_eq!(left.count(ended), left.started());
        let share = left.finished() as f64 / left.started() as f64;
        assert!(share > 0.0 && share < 0.8, "{}", left.finished());
    }
}
