//! Results of cells: medians with intervals, effects in words, and response surfaces.

use super::column;
use netburn_study::sweep::{Cells, Effects, Grid, MetricValue, Row, Rows, Unit, Vary, chart, json};

/// Rows of a sweep over a built-in scenario. `value` gets the values of a run and its number within the cell.
fn synthetic(varies: &[&str], repeat: u32, value: impl Fn(&[&str], u32) -> f64) -> (Grid, Rows) {
    let mut document = netburn_scenario::load("anomaly").unwrap();
    document.set("repeat", &repeat.to_string()).unwrap();
    let varies: Vec<Vary> = varies.iter().map(|text| Vary::parse(text).unwrap()).collect();
    let grid = Grid::new(document, &varies).unwrap();
    let rows = (0..grid.runs()).map(|run| {
        let choices = grid.choices(run);
        let number = (run % u64::from(repeat)) as u32;
        Row {
            run: run + 1,
            values: choices.iter().map(|value| (*value).to_owned()).collect(),
            seed: Some(u64::from(number)),
            metrics: vec![MetricValue::Number(value(&choices, number))],
        }
    });
    let rows = Rows {
        keys: grid.keys().to_vec(),
        columns: vec![column("worst_p95_ms", Unit::Ms, None)],
        repeat,
        total_runs: grid.runs(),
        rows: rows.collect(),
    };
    (grid, rows)
}

const KEYS: [&str; 2] = ["ap.home.queue=fifo,airtime", "station.slow.mcs=0..2"];

/// 1 for `airtime`, and the MCS.
fn numbers(choices: &[&str]) -> (f64, f64) {
    (f64::from(choices[0] == "airtime"), choices[1].parse().unwrap())
}

#[test]
fn effects_are_described_in_words() {
    // `airtime` divides by 8 at MCS 0, by 4 at MCS 1 and by 2 at MCS 2; the runs of a cell differ by ±1 %.
    let (grid, rows) = synthetic(&KEYS, 2, |choices, run| {
        let (queue, mcs) = numbers(choices);
        800.0 / f64::powf(2.0, (3.0 - mcs) * queue) * f64::powf(1.01, f64::from(run) * 2.0 - 1.0)
    });
    // In units of ln 2 the cells are 0, 0, 0 and −3, −2, −1. Sums of squares: 6 of the queue, 1 of the MCS, 1 of both.
    let expected = "\
ap.home.queue explains 75 % of the variation of worst_p95_ms: from 200 ms with airtime to 800 ms with fifo, averaged over the other keys.
station.slow.mcs explains 12 % of the variation of worst_p95_ms: from 283 ms with 0 to 566 ms with 2, averaged over the other keys.
The effect of ap.home.queue depends on station.slow.mcs, which explains 12 %: from airtime to fifo, worst_p95_ms changes by a factor of 8.0 with 0, and by a factor of 2.0 with 2.
Chance explains 0.0 %: the runs of a cell differ in their seeds only.
";
    assert_eq!(Effects::new(&grid, &rows, 0).text(), expected);
}

#[test]
fn effects_need_several_values_and_runs() {
    // Only the queue has an effect, and there is one run of each cell.
    let (grid, rows) = synthetic(&KEYS, 1, |choices, _| 10.0 - 5.0 * numbers(choices).0);
    assert_eq!(
        Effects::new(&grid, &rows, 0).sentences,
        [
            "ap.home.queue explains 100 % of the variation of worst_p95_ms: from 5.00 ms with airtime to 10.0 ms with \
             fifo, averaged over the other keys.",
            "No significant effect of station.slow.mcs explains 1 % or more of the variation of worst_p95_ms.",
            "Each cell has one run, so chance can explain these effects. Several runs (repeat 8) show its part.",
        ]
    );
    let (grid, mut rows) = synthetic(&KEYS, 1, |_, _| 10.0);
    assert_eq!(
        Effects::new(&grid, &rows, 0).sentences,
        ["Effects on worst_p95_ms: none, because all runs have the same value."]
    );
    rows.rows.pop();
    assert_eq!(
        Effects::new(&grid, &rows, 0).sentences,
        ["Effects on worst_p95_ms: unknown, because 1 of 6 combinations have no value."]
    );
}

#[test]
fn cells_have_medians_with_intervals() {
    let (_, rows) = synthetic(&KEYS, 6, |choices, run| {
        let (queue, mcs) = numbers(choices);
        100.0 * queue + 10.0 * mcs + f64::from(run)
    });
    // 0 to 5: the median is 2.5, and the interval of six values is all of them.
    let csv = Cells::new(&rows).csv();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "ap.home.queue,station.slow.mcs,runs,worst_p95_ms,worst_p95_ms low,worst_p95_ms high",
            "fifo,0,6,2.5,0,5",
        ]
    );
    assert_eq!((lines[6], lines.len()), ("airtime,2,6,122.5,120,125", 7));
    assert_eq!(
        json(&rows)["cells"][5],
        serde_json::json!({
            "values": { "ap.home.queue": "airtime", "station.slow.mcs": "2" },
            "runs": 6,
            "metrics": { "worst_p95_ms": { "median": 122.5, "low": 120.0, "high": 125.0 } },
        })
    );
    let text = chart::text(&chart::Chart::new(&rows, 0), 100);
    let title = "worst_p95_ms (ms), median and 95 % interval of 6 seeds over ap.home.queue\n";
    assert!(text.starts_with(title), "{text}");
    assert!(text.contains(" 122 [120 to 125]\n"), "{text}");
}

#[test]
fn two_keys_of_numbers_have_a_response_surface() {
    let keys = [
        "station.slow.mcs=0..2",
        "server.link.delay=5 ms,10 ms,30 ms",
        "ap.home.queue=fifo,airtime",
    ];
    // One key of numbers is not enough.
    let (grid, rows) = synthetic(&keys[1..], 1, |_, _| 1.0);
    assert_eq!(chart::Surface::new(&grid, &Cells::new(&rows), &rows, 0), None);
    let (grid, rows) = synthetic(&keys, 1, |choices, _| {
        let delay: f64 = choices[1].trim_end_matches(" ms").parse().unwrap();
        choices[0].parse::<f64>().unwrap() + delay
    });
    let svg = chart::Surface::new(&grid, &Cells::new(&rows), &rows, 0).unwrap().svg();
    // Two panels of nine cells, 52 steps of the legend, and the background.
    assert_eq!(svg.matches("<rect").count(), 2 * 9 + 52 + 1, "{svg}");
    for part in [
        ">ap.home.queue = fifo</text>",
        ">ap.home.queue = airtime</text>",
        ">station.slow.mcs</text>",
        ">server.link.delay (ms)</text>",
        ">32.0</text>",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
}
