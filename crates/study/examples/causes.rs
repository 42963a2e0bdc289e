use netburn_record::summary::Summariser;
use netburn_record::{Ending, Header, Sink as _};
use netburn_report::explain::{Evidence, lines};
use netburn_scenario::{Ground, load};
use std::ops::ControlFlow;
fn main() {
    let seeds: u64 = std::env::var("SEEDS").ok().map_or(1, |s| s.parse().unwrap());
    for name in std::env::args().skip(1) {
        let mut document = load(&name).unwrap_or_else(|e| panic!("{}", e.render(false)));
        for set in std::env::var("SET").unwrap_or_default().split(';').filter(|s| !s.is_empty()) {
            let (k, v) = set.split_once('=').unwrap();
            document.set(k, v).unwrap();
        }
        for seed in 1..=seeds {
            document.set("seed", &seed.to_string()).unwrap();
            let (plan, _) = document.resolve_for(Ground::Simulate).unwrap_or_else(|e| panic!("{}", e.render(false)));
            let mut summariser = Summariser::new(Header::simulated(plan.clone()));
            let mut evidence = Evidence::new(&plan, Ground::Simulate);
            netburn_simulate::run(&plan, |_, rows| {
                for row in &rows {
                    evidence.row(row);
                    summariser.put(row).unwrap();
                }
                ControlFlow::Continue(())
            })
            .unwrap();
            let summary = summariser.finish("x", &Ending::Complete);
            println!("=== {name} {seed}");
            let causes = evidence.causes(&summary, &[]);
            println!("{}", lines(&causes, 150, false).join("\n"));
        }
    }
}
