//! Writes the fuzz corpus: each kind under several driver behaviours, and the shortest inputs. Run
//! it when the decoder of `fuzz::check` changes, because that changes the meaning of an old corpus.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/driver");
    // Steps as `fuzz` decodes them: the input, and its parameter or time.
    let prompt = [[0, 0], [5, 0], [6, 40], [9, 0], [13, 0]].concat();
    let slow = [[0, 0], [3, 60], [5, 1], [6, 255], [3, 200], [11, 255], [13, 3]].concat();
    let silent = [[0, 0], [3, 90], [0, 0]].concat();
    let failing = [[0, 0], [6, 9], [12, 1], [0, 0], [12, 2], [14, 0]].concat();
    let late = [[4, 250], [7, 3], [9, 1], [4, 33], [14, 1], [10, 0]].concat();
    let astray = [
        [0, 0],
        [15, 200],
        [6, 77],
        [14, 5],
        [5, 250],
        [15, 9],
        [9, 201],
        [13, 8],
    ]
    .concat();
    let arriving = [[0, 0], [0, 0], [14, 1], [14, 41], [3, 5], [14, 255]].concat();
    let characters = [
        ("prompt", prompt),
        ("slow", slow),
        ("silent", silent),
        ("failing", failing),
        ("late", late),
        ("astray", astray),
        ("arriving", arriving),
    ];
    // Every 120 ms, jitter 15 ms, 3 objects of 1064 B, 3 outstanding, time-out 510 ms, goal 41 ms, kept connections. A
    // player of 99.7 kbit/s that starts with 31 ms and holds 1.256 s. From −200 ms on for 4.4 s, 1 s of drain.
    let settings = [25, 1, 2, 200, 2, 50, 10, 1, 100, 30, 100, 236, 220, 25, 1];
    for (kind, name) in (0_u8..).zip(netburn_workload::kinds::KINDS.iter().map(|kind| kind.name)) {
        for (character, steps) in &characters {
            let mut data = vec![kind];
            data.extend(settings);
            data.extend(steps.repeat(60));
            std::fs::write(corpus.join(format!("{name}-{character}")), data)?;
        }
    }
    std::fs::write(corpus.join("empty"), [])?;
    std::fs::write(corpus.join("one-byte"), [1])?;
    // A run of zero length, and one whose settling is at its end.
    std::fs::write(
        corpus.join("no-time"),
        [2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    )?;
    let no_drain = [
        vec![0, 0, 0, 1, 0, 0, 255, 0, 0, 0, 0, 0, 0, 50, 0, 9],
        [0, 0].repeat(40),
    ]
    .concat();
    std::fs::write(corpus.join("no-drain"), no_drain)?;
    Ok(())
}
