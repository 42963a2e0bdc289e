//! `netburn decode`: the table of ratings, the chain of rates, and text that is no rating.

use crate::support::{Bench, finish};
use serde_json::Value;

fn decoded(args: &[&str]) -> Value {
    let args = ["decode"].iter().chain(args).chain(&["--format", "json"]);
    finish(Bench::new().netburn(args)).expect(0).json()
}

fn radios(of: &Value) -> Vec<(&str, u64, u64)> {
    let radios = of["best"]["radios"].as_array().unwrap();
    let rounded = |radio: &Value| radio["rate_mbps"].as_f64().unwrap().round() as u64;
    radios
        .iter()
        .map(|radio| {
            (
                radio["band"].as_str().unwrap(),
                radio["streams"].as_u64().unwrap(),
                rounded(radio),
            )
        })
        .collect()
}

#[test]
fn a_rating_becomes_radios() {
    assert_eq!(radios(&decoded(&["AC1200"])), [("2g", 2, 300), ("5g", 2, 867)]);
    assert_eq!(radios(&decoded(&["ac1900"])), [("2g", 3, 600), ("5g", 3, 1_300)]);
    assert_eq!(radios(&decoded(&["AX5400"])), [("2g", 2, 574), ("5g", 4, 4_804)]);
    assert_eq!(
        radios(&decoded(&["AC3600", "--nodes", "3"])),
        [("2g", 2, 300), ("5g", 2, 867)]
    );
}

#[test]
fn the_chain_ends_at_one_of_four_devices() {
    let decoded = decoded(&["AC1900", "--client", "2x2", "--stations", "4"]);
    let five = &decoded["chain"][1];
    assert_eq!(five["streams"], 2);
    assert_eq!(five["phy_rate_mbps"].as_f64().unwrap().round(), 867.0);
    let (goodput, share) = (
        five["goodput_mbps"].as_f64().unwrap(),
        five["share_mbps"].as_f64().unwrap(),
    );
    assert!((600.0..780.0).contains(&goodput), "{goodput}");
    assert!((share * 4.0 - goodput).abs() < 0.01, "{share}");
}

/// Three boxes of two streams each, with one radio in 5 GHz: a second hop halves the goodput.
#[test]
fn a_mesh_has_a_second_hop() {
    let text = finish(Bench::new().netburn(["decode", "AC3600", "--nodes", "3"]))
        .expect(0)
        .out();
    assert!(text.contains("two hops from the first"), "{text}");
    let decoded = decoded(&["AC3600", "--nodes", "3"]);
    let hops = &decoded["two_hops"];
    let rate = |value: &Value| value["goodput_mbps"].as_f64().unwrap();
    let client = hops["client_mbps"].as_f64().unwrap();
    assert!((rate(&hops["shared"]) * 2.0 - client).abs() < 0.01, "{hops}");
    assert!(hops["dedicated"].is_null());
}

#[test]
fn the_text_lists_the_rate_of_each_device() {
    let text = finish(Bench::new().netburn(["decode", "AC1900", "--stations", "4"]))
        .expect(0)
        .out();
    insta::assert_snapshot!(text);
}

#[test]
fn an_invalid_rating_is_explained() {
    for (args, printed) in [
        (&["AD1900"][..], "`AC1750`"),
        (&["AC19"][..], "three to five digits"),
        (&["AC100"][..], "mesh"),
        (&["AC1900", "--client", "two"][..], "3x3:2"),
        (&["AC1900", "--client", "2x2:3"][..], "1 to 2"),
        (&["AC1900", "--stations", "0"][..], "1..=1000"),
    ] {
        let ended = finish(Bench::new().netburn(["decode"].iter().chain(args))).expect(2);
        assert!(
            ended.stdout.is_empty() && ended.stderr.contains(printed),
            "{}",
            ended.stderr
        );
    }
}
