//! TCP over access points with a wireless backhaul, against closed forms.
//!
//! The rates in the formulas are those of one TCP connection over each link alone, with the same
//! settings.

use netburn_record::Row;
use netburn_scenario::{Document, Environment, load};
use std::ops::ControlFlow;

/// Mbit/s of content of each station, from `from_s` to the end.
fn goodputs(mut document: Document, settings: &[(&str, &str)], from_s: f64) -> Vec<f64> {
    for (key, value) in settings {
        document.set(key, value).unwrap();
    }
    let (plan, _) = document.resolve_for(Environment::Simulate).unwrap();
    let mut bytes = vec![0; plan.stations.len()];
    let done = netburn_simulate::run(&plan, |_, rows| {
        for row in rows {
            if let Row::Interval(row) = row
                && (from_s..plan.duration.as_secs_f64()).contains(&row.at.as_secs_f64())
            {
                bytes[usize::from(row.station)] += row.bytes_down + row.bytes_up;
            }
        }
        ControlFlow::Continue(())
    });
    assert!(!done.unwrap().interrupted);
    let seconds = plan.duration.as_secs_f64() - from_s;
    bytes.iter().map(|bytes| *bytes as f64 * 8e-6 / seconds).collect()
}

/// A unit below `main`, on the same channel. The station joins `joins`.
fn pair(backhaul: u8, joins: &str, mcs: u8) -> f64 {
    let radio = "{ width = \"80 MHz\", aggregate_time = \"4 ms\", rts = \"500 B\" }";
    let text = format!(
        "duration = \"12 s\"\nbaseline = \"0 s\"\n[server]\nlink = {{ rate = \"10 Gbit/s\", delay = \"2 ms\" }}\n\
         [ap.main]\nqueue = \"fq-codel\"\nradio.5g = {radio}\n\
         [ap.unit]\nqueue = \"fq-codel\"\nbackhaul = \"main.5g\"\nbackhaul_mcs = {backhaul}\nradio.5g = {radio}\n\
         [station.s]\njoins = \"{joins}.5g\"\nmcs = {mcs}\nworkload = \"download\"\n"
    );
    goodputs(Document::from_toml("pair.toml", &text).unwrap(), &[], 4.0)[0]
}

/// A sender that adapts to its losses gets 1/(1/R1 + 1/R2), whichever hop is slower. One that does not
/// adapt gets only half of a slower second hop (crates/network/tests/backhaul.rs).
#[test]
fn tcp_gets_the_sum_of_the_airtimes() {
    for (first, second) in [(4, 4), (4, 1), (4, 5), (1, 4)] {
        let (one, two) = (pair(0, "main", first), pair(0, "main", second));
        let expected = 1.0 / (1.0 / one + 1.0 / two);
        let found = pair(first, "unit", second);
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{found:.1}, expected {expected:.1}"
        );
    }
}

/// Each hop of the chain on one channel takes its share: R/h. The phone's call takes less than 2 %.
#[test]
fn the_built_in_chain_divides_the_rate() {
    let to = |ap: &str| {
        let settings = [("station.laptop.joins", ap), ("station.phone.joins", ap)];
        goodputs(load("relay-chain").unwrap(), &settings, 5.0)[0]
    };
    let one = to("one.5g");
    for (hops, ap) in (2_u8..).zip(["two.5g", "three.5g", "four.5g"]) {
        let (found, expected) = (to(ap), one / f64::from(hops));
        assert!(
            (0.93..1.01).contains(&(found / expected)),
            "{ap}: {found:.1} of {expected:.1}"
        );
    }
}

/// The far station of the house alone: the link of the backhaul limits a dedicated radio, the station's
/// own link a wire. On a shared radio both take their airtime, and the two access points collide
/// more often than one, which the formula leaves out.
#[test]
fn the_built_in_house() {
    let far = |backhaul: &str| {
        let settings = [
            ("duration", "15 s"),
            ("baseline", "0 s"),
            ("station.near.start", "14.9 s"),
            ("ap.study.backhaul", backhaul),
            ("ap.garage.backhaul", backhaul),
        ];
        goodputs(load("three-unit-house").unwrap(), &settings, 5.0)[0]
    };
    let (shared, dedicated, wired) = (far("main.5g"), far("main.5g-2"), far("wired"));
    let expected = 1.0 / (1.0 / dedicated + 1.0 / wired);
    assert!(dedicated < 0.9 * wired, "{dedicated:.1} of {wired:.1}");
    assert!(
        (0.85..1.0).contains(&(shared / expected)),
        "{shared:.1} of {expected:.1}"
    );
}
