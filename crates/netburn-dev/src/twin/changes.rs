//! The changes that are predicted.

use netburn_fit::home::Parameter;
use netburn_fit::houses::House;
use netburn_study::whatif::with_limits;

/// A change of a house, as keys and values of its scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HouseChange {
    /// Name in the results.
    pub name: &'static str,
    /// Keys and values.
    pub set: Vec<(String, String)>,
}

/// Ten changes of a house, of which some help and some harm. None of them contains a value that only the fit could know.
#[must_use]
pub fn changes(house: &House) -> Vec<HouseChange> {
    let signals = (0..house.stations).filter_map(|station| Some((station, house.value(Parameter::Signal(station))?)));
    let weakest = signals.min_by(|one, other| one.1.total_cmp(&other.1));
    let (weakest, _) = weakest.unwrap_or((0, 0.0));
    let names = house.names();
    let weakest = &names[weakest];
    let (down, up) = house.line;
    let change = |name, set: &[(&str, &str)]| HouseChange {
        name,
        set: {
            let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
            with_limits(&set.iter().map(owned).collect::<Vec<_>>())
        },
    };
    vec![
        change("nothing", &[]),
        change("airtime queues", &[("ap.home.queue", "airtime")]),
        change("one FQ-CoDel", &[("ap.home.queue", "fq-codel")]),
        change("one FIFO", &[("ap.home.queue", "fifo")]),
        change(
            "CAKE on the line",
            &[
                ("ap.home.wan.discipline", "cake"),
                ("ap.home.wan.shaper_down", "90 %"),
                ("ap.home.wan.shaper_up", "90 %"),
            ],
        ),
        change(
            "a line of twice the rate",
            &[
                ("ap.home.wan.down", &format!("{} Mbit/s", 2.0 * down)),
                ("ap.home.wan.up", &format!("{} Mbit/s", 2.0 * up)),
            ],
        ),
        change("a free channel", &[("ap.home.radio.5g.channel_busy", "0 %")]),
        change("a busy channel", &[("ap.home.radio.5g.channel_busy", "50 %")]),
        change(
            "the weakest device nearer",
            &[(&format!("station.{weakest}.signal"), "-50 dBm")],
        ),
        change("a server far away", &[("server.link.delay", "80 ms")]),
    ]
}
