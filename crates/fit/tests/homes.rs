//! Properties of a home that a measurement shows before any model is simulated. The simulator plays homes with and without each property.

use netburn_fit::evidence::Key;
use netburn_fit::home::{Home, IdleDelay, LineUse, Parameter};
use netburn_fit::houses::simulate;
use netburn_fit::measurement::Measured;
use netburn_fit::{Fit, Measurement, Schedule, Settings, fit};
use netburn_medium::config::Band;
use netburn_record::Run;
use netburn_units::Seed;
use netburn_workload::Direction;

/// Three devices with good links. The line is slower than any of these.
const HOME: &str = r#"
[server.link]
delay = "9 ms"
[ap.home]
queue = "fq-codel"
[ap.home.wan]
down = "50 Mbit/s"
up = "20 Mbit/s"
delay = "4 ms"
[ap.home.radio.5g]
standard = "802.11n"
width = "40 MHz"
[station.laptop]
joins = "home.5g"
signal = "-52 dBm"
[station.phone]
joins = "home.5g"
signal = "-60 dBm"
[station.tablet]
joins = "home.5g"
signal = "-55 dBm"
"#;
/// Numbers of the stations: a scenario with a measurement sorts its keys.
const PHONE: usize = 1;
const TABLET: usize = 2;

fn measured(home: &str) -> Measurement {
    let names = ["laptop", "phone", "tablet"].map(str::to_owned);
    let scenario = Schedule::measure(&names).in_scenario(home).expect("valid TOML");
    let run = simulate(&scenario, Seed(3)).expect("the home can be simulated");
    Measurement::of_run(&run, Settings::default().length).expect("a measurement")
}

fn shown(home: &str) -> Home {
    measured(home).home
}

/// With further keys of the tablet.
fn with(keys: &str) -> String {
    HOME.replace("signal = \"-55 dBm\"", &format!("signal = \"-55 dBm\"\n{keys}"))
}

#[test]
fn a_usual_home_has_none_of_these_properties() {
    let home = shown(HOME);
    assert_eq!(home.line, [LineUse::Full; 2]);
    assert_eq!((home.bands(), home.units.len()), (vec![Band::Ghz5], 0));
    for station in &home.stations {
        assert_eq!(
            (station.limit, station.idle, station.unit),
            ([None; 2], IdleDelay::Usual, None),
            "{station:?}"
        );
    }
    let is_shared = |one: &Parameter| !matches!(one, Parameter::Signal(_));
    assert_eq!(home.parameters().into_iter().filter(is_shared).count(), 8);
}

/// The stations of two bands do not share a channel.
#[test]
fn each_band_has_a_radio() {
    let home = HOME.replace(
        "[station.laptop]",
        "[ap.home.radio.2g]\nwidth = \"20 MHz\"\n[station.laptop]",
    );
    let home = home.replace(
        "joins = \"home.5g\"\nsignal = \"-60 dBm\"",
        "joins = \"home.2g\"\nsignal = \"-60 dBm\"",
    );
    let measurement = measured(&home);
    let home = &measurement.home;
    assert_eq!(home.bands(), [Band::Ghz2_4, Band::Ghz5]);
    assert_eq!(home.stations[PHONE].band, (Band::Ghz2_4, true));
    assert!(home.units.is_empty(), "{:?}", home.units);
    let draft = measurement.draft();
    for expected in ["[ap.home.radio.2g]", "[ap.home.radio.5g]", "joins = \"home.2g\""] {
        assert!(draft.contains(expected), "{draft}");
    }
    simulate(&draft, Seed(1)).expect("the model can be simulated");
}

#[test]
fn a_line_with_queue_management_is_told_from_a_full_queue_and_from_a_free_line() {
    let managed = HOME.replace(
        "delay = \"4 ms\"",
        "delay = \"4 ms\"\ndiscipline = \"cake\"\nshaper = \"90 %\"",
    );
    let home = shown(&managed);
    assert_eq!(home.line, [LineUse::Managed; 2]);
    let has_queue = |one: &Parameter| matches!(one, Parameter::LineQueue(_));
    assert!(!home.parameters().iter().any(has_queue));
    // The shapers have 45 and 18 Mbit/s.
    for (highest, shaper) in home.highest.into_iter().zip([45.0, 18.0]) {
        let error = highest.expect("there was load") / shaper - 1.0;
        assert!(error.abs() < 0.06, "{highest:?} of {shaper}");
    }
    let fast = HOME
        .replace("50 Mbit/s", "900 Mbit/s")
        .replace("20 Mbit/s", "900 Mbit/s");
    assert_eq!(shown(&fast).line, [LineUse::Free; 2]);
}

/// A limit of one device, and limits of all, so that no other device is a standard.
#[test]
fn a_device_that_limits_its_rate_is_told_from_a_slow_link() {
    let limits = |home: &str| -> Vec<[Option<f64>; 2]> {
        let stations = shown(home).stations;
        stations.iter().map(|station| station.limit).collect()
    };
    let rate = |measured: Option<f64>, truth: f64| {
        let error = measured.expect("it is the limit") * 1_500.0 / 1_448.0 / truth - 1.0;
        assert!(error.abs() < 0.08, "{measured:?} of {truth}");
    };
    let one = limits(&with("adapter_rate = { down = \"12 Mbit/s\", up = \"6 Mbit/s\" }"));
    assert_eq!(one[..TABLET], [[None; 2]; 2]);
    rate(one[TABLET][0], 12.0);
    rate(one[TABLET][1], 6.0);
    let all = HOME.replace("joins = ", "adapter_rate = \"8 Mbit/s\"\njoins = ");
    for own in limits(&all) {
        rate(own[0], 8.0);
    }
    // A weak signal, a slow line, or a crowded channel is no limit of the device.
    let weak = HOME.replace("-60 dBm", "-84 dBm");
    let slow = HOME.replace("50 Mbit/s", "8 Mbit/s").replace("20 Mbit/s", "1 Mbit/s");
    let crowded = HOME.replace("width = \"40 MHz\"", "width = \"40 MHz\"\nchannel_busy = \"60 %\"");
    for home in [weak, slow, crowded] {
        assert_eq!(limits(&home), [[None; 2]; 3], "{home}");
    }
}

#[test]
fn delays_of_one_device_without_load_are_its_own() {
    let idle = |home: &str| -> Vec<IdleDelay> { shown(home).stations.iter().map(|station| station.idle).collect() };
    let slow = idle(&with("rx_interrupt_delay = \"60 ms\""));
    assert_eq!(slow[..TABLET], [IdleDelay::Usual; 2]);
    let IdleDelay::Adapter(ms) = slow[TABLET] else {
        panic!("{slow:?}");
    };
    // Each further packet begins the delay again, up to four times.
    assert!((60.0..=240.0).contains(&ms), "{ms}");
    // The answer of the server comes after 26 ms: the adapter sleeps since 15 ms, until the next beacon. The access point answers
    // at once.
    let dozing = idle(&with("power_save = { mode = \"legacy\", timeout = \"11 ms\" }"));
    assert_eq!(dozing, [IdleDelay::Usual, IdleDelay::Usual, IdleDelay::Dozing]);
    // It stays awake for longer than the answers take.
    let awake = idle(&with("power_save = { mode = \"legacy\", timeout = \"100 ms\" }"));
    assert_eq!(awake, [IdleDelay::Usual; 3]);
}

#[test]
fn a_second_access_point_is_behind_a_radio_or_a_cable() {
    let second_of = |changed: &dyn Fn(&str) -> String, keys: &str| {
        let home = HOME.replace(
            "[station.laptop]",
            &format!(
                "[ap.attic]\n{keys}\n[ap.attic.radio.5g]\nstandard = \"802.11n\"\nwidth = \"40 MHz\"\n[station.laptop]"
            ),
        );
        let home = home.replace(
            "joins = \"home.5g\"\nsignal = \"-55 dBm\"",
            "joins = \"attic.5g\"\nsignal = \"-55 dBm\"",
        );
        measured(&changed(&home))
    };
    let second = |keys: &str| second_of(&str::to_owned, keys);
    let mesh = second("backhaul = \"home.5g\"\nbackhaul_signal = \"-62 dBm\"");
    assert!(
        mesh.home.units.len() == 1 && mesh.home.units[0].is_wireless,
        "{:?}",
        mesh.home
    );
    let of: Vec<Option<usize>> = mesh.home.stations.iter().map(|station| station.unit).collect();
    assert_eq!(of, [None, None, Some(0)]);
    assert!(mesh.home.parameters().contains(&Parameter::Backhaul(0)));
    simulate(&mesh.draft(), Seed(1)).expect("the model can be simulated");
    // On another channel it takes no airtime of the router.
    let other = second("backhaul = \"home\"").home.units[0];
    assert!(other.shares_channel, "{other:?}");
    let apart = |text: &str| text.replace("[ap.attic.radio.5g]", "[ap.attic.radio.5g]\nchannel = 149");
    let far = second_of(&apart, "backhaul = \"home\"");
    assert!(!far.home.units[0].shares_channel, "{:?}", far.home);
    assert!(far.draft().contains("channel = 100"), "{}", far.draft());
    simulate(&far.draft(), Seed(1)).expect("the model can be simulated");
    let cable = second("backhaul = \"home\"");
    assert!(
        cable.home.units.len() == 1 && !cable.home.units[0].is_wireless,
        "{:?}",
        cable.home
    );
    assert!(
        cable.gaps.iter().any(|gap| gap.contains("counts as a cable")),
        "{:?}",
        cable.gaps
    );
    simulate(&cable.draft(), Seed(1)).expect("the model can be simulated");
}

/// The first run has the laptop and the phone, the second one the phone and the tablet.
#[test]
fn runs_of_different_devices_are_one_measurement() {
    let run_of = |home: &str, names: [&str; 2]| {
        let other = ["laptop", "phone", "tablet"]
            .into_iter()
            .find(|name| !names.contains(name));
        let mut file: toml::Table = home.parse().expect("valid TOML");
        let stations = file["station"].as_table_mut().expect("stations");
        stations.remove(other.expect("one is missing"));
        let scenario = Schedule::measure(&names.map(str::to_owned)).in_scenario(&file.to_string());
        simulate(&scenario.expect("valid TOML"), Seed(3)).expect("the home can be simulated")
    };
    let (first, second) = (run_of(HOME, ["laptop", "phone"]), run_of(HOME, ["phone", "tablet"]));
    let length = Settings::default().length;
    let alone = |run: &Run| Measurement::of_run(run, length).expect("a measurement");
    let of = |run| Measured { run, change: &[] };
    let both = Measurement::of_runs(&[of(&first), of(&second)], length).expect("a measurement");
    assert_eq!(both.schedule.stations, ["laptop", "phone", "tablet"]);
    let (one, other) = (alone(&first), alone(&second));
    assert_eq!(both.values, [one.values.clone(), other.values.clone()].concat());
    assert_eq!(
        both.schedule.phases.len(),
        one.schedule.phases.len() + other.schedule.phases.len()
    );
    // A device that is only in the second run has its own properties.
    let slow = with("rx_interrupt_delay = \"60 ms\"");
    let third = run_of(&slow, ["phone", "tablet"]);
    let with_third = Measurement::of_runs(&[of(&first), of(&third)], length).expect("a measurement");
    let idle = with_third.home.stations[2].idle;
    assert!(matches!(idle, IdleDelay::Adapter(_)), "{idle:?}");
    let changed = [("ap.home.wan.down".to_owned(), "25 Mbit/s".to_owned())];
    let only_changed = [Measured {
        run: &first,
        change: &changed,
    }];
    Measurement::of_runs(&only_changed, length).expect_err("no run of the network without the change");
    // Observations keep their words, also with the numbers of all runs.
    let words = |of: &Measurement| -> Vec<String> {
        let phase = |key: &Key| of.schedule.phases[key.phase].describe(&of.schedule.stations);
        of.keys
            .iter()
            .map(|key| format!("{}: {}", phase(key), key.describe(&of.schedule)))
            .collect()
    };
    assert_eq!(words(&both), [words(&one), words(&other)].concat());
}

/// The second run was made after a change, so only with this change is it explained by the same models.
#[test]
fn a_run_after_a_change_is_explained_with_this_change() {
    let names = ["laptop", "phone"].map(str::to_owned);
    let without_tablet = HOME.split("[station.tablet]").next().expect("a part");
    let run = |home: &str| {
        let scenario = Schedule::measure(&names).in_scenario(home).expect("valid TOML");
        simulate(&scenario, Seed(3)).expect("the home can be simulated")
    };
    let before = run(without_tablet);
    let after = run(&without_tablet.replace("50 Mbit/s", "25 Mbit/s"));
    let change = [("ap.home.wan.down".to_owned(), "25 Mbit/s".to_owned())];
    let few = Settings {
        pilot: 4,
        members: 8,
        ..Settings::default()
    };
    let fitted = |change: &[(String, String)]| {
        // Also if the changed run comes first.
        let runs = [
            Measured { run: &after, change },
            Measured {
                run: &before,
                change: &[],
            },
        ];
        let both = Measurement::of_runs(&runs, few.length).expect("a measurement");
        fit(&both, &few, &|count, work| (0..count).map(work).collect())
    };
    let downloads = |fitted: &Fit| {
        let goodput = |one: &&String| one.contains("goodput down");
        fitted.unexplained.iter().filter(goodput).count()
    };
    let with = fitted(&change).expect("the models can be simulated");
    let line = with
        .models
        .median(Parameter::Line(Direction::Down))
        .expect("each model has a line");
    assert!((line / 50.0 - 1.0).abs() < 0.06, "{line}");
    assert_eq!(downloads(&with), 0, "{:?}", with.unexplained);
    // Each device alone: no line explains both runs.
    let without = fitted(&[]).expect("the models can be simulated");
    assert!(downloads(&without) >= 2, "{:?}", without.unexplained);
    // A change that the model cannot have is an error, and no wrong result.
    fitted(&[("ap.attic.queue".to_owned(), "fifo".to_owned())]).expect_err("no such access point");
}
