//! The next step after a measurement for a fit, in a terminal and on the page.

mod fitted_document;

use fitted_document::fit;
use netburn_analysis::View;
use netburn_record::{Environment, Header, Recorder, RunStatus};
use netburn_report::html;
use netburn_scenario::Document;

/// Causes that blame the load, as the simulation of a run stores them.
const OWN_LOAD: &str = r#"{
    "causes": [{
        "kind": "fair-share", "severity": "notable", "title": "laptop's download takes its share", "evidence": "Simulated.",
        "advice": "Limit the rate of the transfer", "stations": ["laptop"], "by": ["laptop"]
    }],
    "unexplained": [{ "station": "laptop", "what": ["download was slow"] }]
}"#;

/// The view of a run of this load with a probe, and [`OWN_LOAD`]. `network` describes its network.
fn loaded(download: &str, network: &str, files: &[(&str, String)], status: &RunStatus) -> View {
    let text = format!(
        "duration = \"20 s\"\n{network}\nworkload = [\"transfer\", \"to-server\"]\n\
         [workload.transfer]\nkind = \"download\"\nstart = \"5 s\"\n{download}\n\
         [workload.to-server]\nkind = \"probe\"\ntarget = \"server\"\ninterval = \"50 ms\"\n"
    );
    let document = Document::from_toml("plan", &text).unwrap();
    let bench = tempfile::tempdir().unwrap();
    let folder = bench.path().join("run");
    let (plan, _) = document.resolve_for(Environment::Fleet).unwrap();
    let recorder = Recorder::create(&folder, Header::simulated(plan)).unwrap();
    recorder.finish(status).unwrap();
    std::fs::write(folder.join("causes.json"), OWN_LOAD).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let mut view = View::open(&folder).unwrap();
    assert!(view.missing.is_empty(), "{:?}", view.missing);
    view.summary.run = "my-run".to_owned();
    view
}

const UNKNOWN: &str = "[station.laptop]";
const PHASE: &str = "stop = \"9 s\"\ngoal = \"none\"";

/// The box at the head of the page, and the same step in a terminal.
fn what_to_do(view: &View) -> (String, String) {
    let page = html::report(view);
    let from = page.find("<h2 id=\"h-action\">What to do now</h2>").unwrap();
    let part = &page[from..from + page[from..].find("</section>").unwrap()];
    let lines = netburn_report::next_step::lines(view, 80, false);
    (part.to_owned(), lines.join("\n"))
}

#[test]
fn a_measurement_leads_to_its_models_and_not_to_its_own_load() {
    let fit = fit(["laptop", "laptop"], "x");
    for (files, fits_first) in [(vec![], true), (vec![("fit.json", fit.to_string())], false)] {
        let view = loaded(PHASE, UNKNOWN, &files, &RunStatus::Complete);
        let (part, text) = what_to_do(&view);
        assert!(part.contains("Run <code>netburn explain my-run</code>"), "{part}");
        assert_eq!(
            part.contains("It fits models to this measurement first"),
            fits_first,
            "{part}"
        );
        assert!(text.contains("\nRun `netburn explain my-run`."), "{text}");
        let page = html::report(&view);
        for own in ["Limit the rate", "takes its share", "was slow", "part-causes"] {
            assert!(!page.contains(own), "{own}");
        }
    }
}

#[test]
fn the_load_of_a_user_keeps_its_advice() {
    for load in ["", "stop = \"9 s\"\ngoal = \"10 Mbit/s\""] {
        let view = loaded(load, UNKNOWN, &[], &RunStatus::Complete);
        let (part, text) = what_to_do(&view);
        assert!(part.contains("Limit the rate of the transfer") && part.contains("see the likely cause"));
        assert!(!part.contains("netburn explain") && text.is_empty(), "{part}{text}");
        assert_eq!(view.explanation.unexplained.len(), 1);
    }
}

#[test]
fn a_measurement_that_no_model_explains_is_made_again() {
    let mut fit = fit(["laptop", "laptop"], "x");
    fit["explains"] = false.into();
    let files = [("fit.json", fit.to_string())];
    let (part, text) = what_to_do(&loaded(PHASE, UNKNOWN, &files, &RunStatus::Complete));
    for said in [&part, &text.replace('\n', " ")] {
        assert!(said.contains("does not explain this measurement"), "{said}");
        assert!(
            said.contains("Measure again") && !said.contains("netburn explain"),
            "{said}"
        );
    }
    let (part, _) = what_to_do(&loaded(PHASE, UNKNOWN, &[], &RunStatus::Interrupted));
    assert!(
        part.contains("Measure again") && part.contains("not complete"),
        "{part}"
    );
}

/// `netburn explain` simulates the network of a scenario, unless it gets the models.
#[test]
fn a_described_network_needs_the_models_by_name() {
    let network =
        "[ap.home.radio.5g]\nstandard = \"802.11ac\"\n[station.laptop]\njoins = \"home.5g\"\nsignal = \"-60 dBm\"";
    let (part, _) = what_to_do(&loaded(PHASE, network, &[], &RunStatus::Complete));
    assert!(
        part.contains("<code>netburn explain my-run --model my-run</code>"),
        "{part}"
    );
}

/// The machine was too slow: the measurement is made again before anything else.
#[test]
fn an_unreliable_measurement_keeps_the_advice_of_its_fault() {
    let causes = OWN_LOAD
        .replace("\"notable\"", "\"measurement\"")
        .replace("fair-share", "generator")
        .replace("Limit the rate of the transfer", "Use a faster machine");
    let view = loaded(PHASE, UNKNOWN, &[("causes.json", causes)], &RunStatus::Complete);
    let (part, text) = what_to_do(&view);
    assert!(
        part.contains("Use a faster machine") && !part.contains("netburn explain"),
        "{part}"
    );
    assert!(text.is_empty(), "{text}");
}
