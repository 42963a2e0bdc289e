//! The ready-made scenarios are right, on every ground.

use netburn_scenario::{Ground, Plan, load, shipped};

#[test]
fn every_shipped_scenario_is_valid_on_every_ground() {
    for (name, _) in shipped() {
        let document = load(name).unwrap_or_else(|error| panic!("{}", error.render(false)));
        for ground in Ground::ALL {
            let (plan, _) = document
                .resolve_for(ground)
                .unwrap_or_else(|error| panic!("{name} on {ground}: {}", error.render(false)));
            assert_eq!(plan.name, *name);
            assert!(plan.title.is_some() && plan.question.is_some(), "{name}");
            let again = Plan::from_json(&plan.to_json()).unwrap_or_else(|error| panic!("{}", error.render(false)));
            assert_eq!(again, plan);
        }
    }
}
