//! Evaluates formulas over runs of a scenario with several seeds and signals: `outcomes SCENARIO [KEY=VALUE]… [--against KEY=VALUE]… [--seeds N] [--shifts -3,0,3] [--] FORMULA…`.
//!
//! Formulas are as in validation cases of the kind `scenario`. Every argument after `--` is a formula.

use netburn_dev::experiment::{Formula, Grid};
use netburn_runner::pool::processors;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut grid = Grid::new(&arguments.next().expect("a scenario"));
    let (mut formulas, mut against) = (Vec::new(), Vec::new());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().expect("a value");
        match argument.as_str() {
            "--seeds" => grid.seeds.1 = value().parse().expect("a number"),
            "--shifts" => {
                let hundredths = |decibels: &str| (decibels.parse::<f64>().expect("decibels") * 100.0) as i32;
                grid.shifts = value().split(',').map(hundredths).collect();
            }
            "--against" => against.push(pair(&value())),
            "--" => formulas.extend(arguments.by_ref()),
            _ if argument.contains('=') => grid.set.push(pair(&argument)),
            _ => formulas.push(argument),
        }
    }
    let threads = processors();
    let runs = grid.run(threads).unwrap_or_else(|why| panic!("{why}"));
    let mut other = grid.clone();
    other.set.extend(against.iter().cloned());
    let others = if against.is_empty() {
        Vec::new()
    } else {
        other.run(threads).unwrap_or_else(|why| panic!("{why}"))
    };
    println!("{} runs", runs.len());
    for text in formulas {
        let formula = Formula::parse(&text).unwrap_or_else(|why| panic!("{text}: {why}"));
        let of = |over: &str| Formula::parse(&format!("{over}{text}")).map(|formula| formula.evaluate(&runs, &others));
        match (of("min "), of("max ")) {
            (Ok(least), Ok(most)) => println!(
                "{:10.3}  {least:.3} to {most:.3}  {text}",
                formula.evaluate(&runs, &others)
            ),
            _ => println!("{:10.3}  {text}", formula.evaluate(&runs, &others)),
        }
    }
}

fn pair(argument: &str) -> (String, String) {
    let (key, value) = argument.split_once('=').expect("KEY=VALUE");
    (key.to_owned(), value.to_owned())
}
