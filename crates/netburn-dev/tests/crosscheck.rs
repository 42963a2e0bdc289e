//! Stored results of ns-3: plans with which the simulator agrees, and the page generated from all results.

use netburn_dev::crosscheck::{CrosscheckPlan, PlanResult, compare, page};
use netburn_dev::sample::Outcome;
use netburn_dev::store::parse;

const STORED: &str = include_str!("../../../validation/crosscheck/ns-3.jsonl");
const PAGE: &str = include_str!("../../../docs/results/crosscheck.md");

/// Plans with which the simulator must agree: all standards, UDP and TCP, both directions, both queues.
const PLANS: [u64; 20] = [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21];

#[test]
fn twenty_plans_agree_with_ns3() {
    let stored = parse::<PlanResult>(STORED).unwrap();
    for number in PLANS {
        let plan = CrosscheckPlan::generate(number);
        let result = PlanResult {
            netburn: (1..=5).map(|seed| plan.simulate(seed).unwrap()).collect(),
            ..stored[&number].clone()
        };
        assert!(result.is_of(&plan), "plan {number} has changed: run it in ns-3 again");
        for value in compare(&plan, &result) {
            assert_ne!(
                value.outcome,
                Outcome::Differs,
                "plan {number}: {}: {value:?}",
                plan.summary()
            );
        }
    }
}

#[test]
fn the_page_matches_the_stored_results() {
    let stored = parse::<PlanResult>(STORED).unwrap();
    for (number, result) in &stored {
        assert!(
            result.is_of(&CrosscheckPlan::generate(*number)),
            "plan {number} has changed"
        );
    }
    let stored: Vec<&PlanResult> = stored.values().collect();
    let page = page::markdown(&stored);
    if std::env::var_os("NETBURN_REGENERATE").is_some() {
        std::fs::write(
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/results/crosscheck.md"),
            &page,
        )
        .unwrap();
        return;
    }
    assert!(
        page == PAGE,
        "to generate it: NETBURN_REGENERATE=1 cargo test -p netburn-dev --test crosscheck"
    );
}
