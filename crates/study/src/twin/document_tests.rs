//! Tests of [`document`](super::document): a file has the models that were written to it.

use super::{NoStoredModels, fit_json, fit_models, models_of_fit};
use netburn_fit::houses::House;
use netburn_fit::{Fit, Measurement, Settings};
use netburn_parallel::Cancel;
use netburn_units::Seed;
use serde_json::{Value, json};

/// A fit with few members, which is enough for a document.
fn fitted(measurement: &Measurement) -> Fit {
    let settings = Settings {
        seed: Seed(7),
        pilot: 4,
        members: 4,
        ..Settings::default()
    };
    let fit = fit_models(measurement, &settings, 2, &Cancel::default(), &|_, _| {});
    fit.expect("it is simulated").expect("nothing stops it")
}

fn measured(seed: u64) -> Measurement {
    // House 5 has a line of 16/1 Mbit/s, so its simulation is short.
    let run = House::random(Seed(5), 2)
        .measure(Seed(seed))
        .expect("the house can be measured");
    Measurement::of_run(&run, Settings::default().length).expect("it is a measurement")
}

#[test]
fn models_are_read_as_they_were_written() {
    let measurement = measured(1);
    let fit = fitted(&measurement);
    let document = fit_json("run", &fit);
    let read = |document: &Value| models_of_fit(&document.to_string(), &measurement);
    assert_eq!(read(&document).expect("it was written"), fit.models);
    assert_eq!(fit.models.seed, Seed(7));
    // The scenario of the fit is the likeliest model, with comments.
    let without_comments = fit.scenario.lines().filter(|line| !line.starts_with('#'));
    let without_comments: Vec<&str> = without_comments.skip_while(|line| line.is_empty()).collect();
    let likeliest = fit.models.likeliest();
    assert_eq!(without_comments, likeliest.lines().collect::<Vec<_>>());

    let with = |path: &str, value: Value| {
        let mut changed = document.clone();
        *changed.pointer_mut(path).expect("the document has it") = value;
        read(&changed)
    };
    let of = |path: &str| document.pointer(path).expect("the document has it").clone();
    let invalid = [
        ("/draws/0/probability", json!(-0.01)),
        ("/draws/0/values", json!([])),
        ("/draws/0/values/0", json!(1e6)),
        ("/draws/0/values/0", json!(-1.0)),
        ("/estimates/0/median", json!(1e300)),
        ("/draws", json!([])),
        ("/draws", json!(vec![of("/draws/0"); 5_000])),
        ("/misfit", json!(-1.0)),
    ];
    for (path, value) in invalid {
        let error = with(path, value.clone());
        assert!(
            matches!(error, Err(NoStoredModels::Models(_))),
            "{path} {value}: {error:?}"
        );
    }
    let other = [
        ("/observations/0/measured", json!(1.25)),
        ("/estimates/0/key", json!("server.link.rate")),
        ("/observations", json!([])),
    ];
    for (path, value) in other {
        let error = with(path, value);
        assert!(
            matches!(error, Err(NoStoredModels::OtherMeasurement)),
            "{path}: {error:?}"
        );
    }
    let queue = with("/draws/0/queue", json!("cake"));
    assert!(matches!(queue, Err(NoStoredModels::Queue)), "{queue:?}");
    let method = with("/method", json!(0));
    assert!(matches!(method, Err(NoStoredModels::Method(0))), "{method:?}");
    // The draws have the probabilities of the disciplines, whatever the document says beside them.
    let contradicting = with("/disciplines", json!([{ "queue": "fifo", "probability": 1.0 }]));
    assert_eq!(contradicting.expect("it is a fit"), fit.models);
    let text = document.to_string();
    let other = models_of_fit(&text, &measured(2));
    assert!(matches!(other, Err(NoStoredModels::OtherMeasurement)), "{other:?}");
    for end in (0..text.len()).step_by(997) {
        let torn = models_of_fit(text.get(..end).expect("the document is ASCII"), &measurement);
        assert!(matches!(torn, Err(NoStoredModels::Document(_))), "{end}");
    }
}
