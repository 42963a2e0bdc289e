//! Keys that change settings of the network while it runs. Pure.

use netburn_medium::config::{LinkQuality, QueueKind};
use netburn_network::Network;
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, Setting, StationSetting};
use netburn_units::{BitRate, Dbm, Instant};

/// Help on the keys, for the last line of the view.
pub const KEYS: &str =
    "up/down station · left/right signal −/+ 3 dB · -/+ MCS · q queue of its access point · Ctrl-C ends";

/// Change of a signal by one key press, in dB.
const STEP_DB: i32 = 3;
/// Range of signals in a scenario, in dBm.
const SIGNALS: (i32, i32) = (-110, 0);
/// Initial signal of a station with a fixed MCS, which has no signal in the scenario, in dBm.
const SIGNAL: i32 = -60;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Any other key, as its byte.
    Char(u8),
}

/// Parser of terminal input. Arrows are ESC [ and a letter (ECMA-48), or ESC O and a letter.
#[derive(Debug, Default)]
pub struct Keys {
    pending: Vec<u8>,
}

impl Keys {
    /// Handles the next byte. Returns a key if the byte completes one.
    pub fn handle_byte(&mut self, byte: u8) -> Option<Key> {
        match (self.pending.len(), byte) {
            (_, 0x1b) => {
                self.pending = vec![byte];
                None
            }
            (0, byte) => Some(Key::Char(byte)),
            (1, b'[' | b'O') => {
                self.pending.push(byte);
                None
            }
            // Parameters of a sequence are ignored.
            (2.., b'0'..=b'?') => None,
            (2.., byte) => {
                self.pending.clear();
                match byte {
                    b'A' => Some(Key::Up),
                    b'B' => Some(Key::Down),
                    b'C' => Some(Key::Right),
                    b'D' => Some(Key::Left),
                    _ => None,
                }
            }
            _ => {
                self.pending.clear();
                None
            }
        }
    }
}

/// Settings made with keys, and the selected station.
#[derive(Debug)]
pub struct KeyboardControl {
    stations: Vec<Held>,
    /// Name and queue of each access point.
    aps: Vec<(String, QueueKind)>,
    selected: usize,
    /// A network that validates settings. A setting that it rejects changes nothing.
    model: Network<()>,
}

#[derive(Debug)]
struct Held {
    name: String,
    ap: usize,
    signal: Option<Dbm>,
    mcs: Option<u8>,
    /// Rate of each MCS of the link, indexed by the MCS.
    rates: Vec<BitRate>,
}

impl Held {
    /// The MCS of a rate; `None` for a rate with fewer streams or another guard interval.
    fn mcs_of(&self, rate: BitRate) -> Option<u8> {
        self.rates.iter().position(|of| *of == rate).map(|mcs| mcs as u8)
    }

    /// The next faster or slower MCS from a rate.
    fn next_to(&self, rate: BitRate, faster: bool) -> Option<u8> {
        let next = if faster {
            self.rates.iter().position(|of| *of > rate)
        } else {
            self.rates.iter().rposition(|of| *of < rate)
        };
        next.map(|mcs| mcs as u8)
    }
}

/// Maximum MCS of all standards (802.11be).
const MAX_MCS: u8 = 13;

/// Rate of each MCS of a station's link.
fn rates(network: &mut Network<()>, number: u16, name: &str) -> Vec<BitRate> {
    let mut rates: Vec<BitRate> = Vec::new();
    for mcs in 0..=MAX_MCS {
        let quality = StationSetting::Quality(LinkQuality::Mcs(mcs));
        network.set(Instant::ZERO, &Setting::Station(name.to_owned(), quality));
        let rate = network.link_stats(number).rate_down;
        // An MCS that the link does not have changes nothing.
        if rates.last().is_some_and(|last| *last >= rate) {
            break;
        }
        rates.push(rate);
    }
    rates
}

impl KeyboardControl {
    /// Returns `None` for a plan with an invalid network.
    #[must_use]
    pub fn new(plan: &Plan) -> Option<KeyboardControl> {
        let model = Network::<()>::new(plan).ok()?;
        let mut scratch = Network::<()>::new(plan).ok()?;
        let stations = plan.stations.iter().zip(0_u16..).map(|(station, number)| {
            let joined = model.joined(number).unwrap_or_default();
            let ap = joined.split('.').next().unwrap_or_default();
            Held {
                name: station.name.clone(),
                ap: plan.aps.iter().position(|known| known.name == ap).unwrap_or_default(),
                signal: model.link_stats(number).signal,
                mcs: match station.air.quality {
                    Some(LinkQuality::Mcs(mcs)) => Some(mcs),
                    _ => None,
                },
                rates: rates(&mut scratch, number, &station.name),
            }
        });
        Some(KeyboardControl {
            stations: stations.collect(),
            aps: plan.aps.iter().map(|ap| (ap.name.clone(), ap.queue)).collect(),
            selected: 0,
            model,
        })
    }

    /// Index of the station that keys change.
    #[must_use]
    pub const fn selected(&self) -> usize {
        self.selected
    }

    /// The queues of the access points as text.
    #[must_use]
    pub fn queues(&self) -> String {
        let each = self.aps.iter().map(|(name, queue)| format!("{name} {}", queue.name()));
        each.collect::<Vec<_>>().join(", ")
    }

    /// The MCS of a rate at a station; `None` if its link has no MCS with that rate.
    #[must_use]
    pub fn mcs_of(&self, number: usize, rate: BitRate) -> Option<u8> {
        self.stations.get(number)?.mcs_of(rate)
    }

    /// Handles a key. Returns the setting to apply. `rate` is the rate of the last transmission to the selected station.
    pub fn handle_key(&mut self, key: Key, rate: Option<BitRate>) -> Option<Setting> {
        let last = self.stations.len().checked_sub(1)?;
        match key {
            Key::Up => self.selected = self.selected.saturating_sub(1),
            Key::Down => self.selected = (self.selected + 1).min(last),
            Key::Left => return self.signal(-STEP_DB),
            Key::Right => return self.signal(STEP_DB),
            Key::Char(b'-') => return self.mcs(false, rate),
            Key::Char(b'+' | b'=') => return self.mcs(true, rate),
            Key::Char(b'q') => return self.queue(),
            Key::Char(_) => {}
        }
        None
    }

    fn signal(&mut self, by: i32) -> Option<Setting> {
        let station = &mut self.stations[self.selected];
        let from = station
            .signal
            .map_or(SIGNAL - by, |signal| signal.as_hundredths() / 100);
        let signal = Dbm::from_dbm((from + by).clamp(SIGNALS.0, SIGNALS.1));
        station.signal = Some(signal);
        station.mcs = None;
        let setting = Setting::Station(
            station.name.clone(),
            StationSetting::Quality(LinkQuality::Signal(signal)),
        );
        self.model.set(Instant::ZERO, &setting);
        Some(setting)
    }

    /// The next MCS: from the one that was set, or else from the current rate of rate control.
    fn mcs(&mut self, faster: bool, rate: Option<BitRate>) -> Option<Setting> {
        let (number, station) = (self.selected as u16, &mut self.stations[self.selected]);
        let mcs = match (station.mcs, faster) {
            (None, _) => {
                let rate = rate.unwrap_or_else(|| self.model.link_stats(number).rate_down);
                station.next_to(rate, faster)?
            }
            (Some(mcs), true) => (mcs + 1 < station.rates.len() as u8).then_some(mcs + 1)?,
            (Some(mcs), false) => mcs.checked_sub(1)?,
        };
        let setting = Setting::Station(station.name.clone(), StationSetting::Quality(LinkQuality::Mcs(mcs)));
        self.model.set(Instant::ZERO, &setting);
        station.mcs = Some(mcs);
        station.signal = None;
        Some(setting)
    }

    fn queue(&mut self) -> Option<Setting> {
        let (name, queue) = self.aps.get_mut(self.stations[self.selected].ap)?;
        let at = QueueKind::ALL.iter().position(|kind| kind == queue)?;
        *queue = QueueKind::ALL[(at + 1) % QueueKind::ALL.len()];
        Some(Setting::Ap(name.clone(), ApSetting::Queue(*queue)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut keys = Keys::default();
        bytes.iter().filter_map(|byte| keys.handle_byte(*byte)).collect()
    }

    #[test]
    fn arrows_are_sequences_and_the_rest_are_characters() {
        use Key::{Char, Down, Left, Right, Up};
        assert_eq!(keys(b"\x1b[A\x1b[B\x1bOC\x1b[D"), [Up, Down, Right, Left]);
        assert_eq!(keys(b"q+-"), [Char(b'q'), Char(b'+'), Char(b'-')]);
        // Ctrl and an arrow; Home; Delete; Alt and a letter; Escape and then an arrow.
        assert_eq!(keys(b"\x1b[1;5C\x1b[H\x1b[3~\x1bx\x1b\x1b[Aq"), [Right, Up, Char(b'q')]);
    }

    fn control() -> KeyboardControl {
        let text = r#"
            [ap.home]
            [ap.home.radio.5g]
            standard = "802.11n"
            [station.near]
            joins = "home.5g"
            signal = "-40 dBm"
            workload = "probe"
            [station.fixed]
            joins = "home.5g"
            standard = "802.11n"
            streams = 1
            mcs = 6
            workload = "probe"
        "#;
        KeyboardControl::new(&Document::from_toml("s.toml", text).unwrap().resolve().unwrap()).unwrap()
    }

    fn pressed(control: &mut KeyboardControl, bytes: &[u8]) -> Vec<String> {
        let keys = keys(bytes).into_iter();
        keys.filter_map(|key| control.handle_key(key, None))
            .map(|setting| setting.to_string())
            .collect()
    }

    #[test]
    fn keys_become_settings() {
        let mut control = control();
        assert_eq!(
            pressed(&mut control, b"\x1b[D\x1b[D\x1b[C"),
            [
                "station.near.signal = \"-43 dBm\"",
                "station.near.signal = \"-46 dBm\"",
                "station.near.signal = \"-43 dBm\""
            ]
        );
        // Beyond the last there is none. MCS 7 is the fastest of 802.11n.
        assert_eq!(
            pressed(&mut control, b"\x1b[B\x1b[B++-"),
            ["station.fixed.mcs = 7", "station.fixed.mcs = 6"]
        );
        assert_eq!(pressed(&mut control, b"\x1b[D"), ["station.fixed.signal = \"-60 dBm\""]);
        assert_eq!(pressed(&mut control, b"qx"), ["ap.home.queue = \"pfifo-fast\""]);
        assert_eq!(control.queues(), "home pfifo-fast");
        assert_eq!(pressed(&mut control, b"qqqqq").len(), 5);
        assert_eq!(control.queues(), "home fifo");
    }

    /// 802.11n with two streams in 40 MHz and a guard interval of 400 ns: 30 to 300 Mbit/s (802.11-2020, table 19-32).
    #[test]
    fn an_mcs_is_next_to_the_rate_that_is_used() {
        let rate = |mbps| Some(BitRate::from_mbps(mbps));
        let mut one = control();
        let rates: Vec<u64> = one.stations[0]
            .rates
            .iter()
            .map(|rate| rate.as_bps() / 1_000_000)
            .collect();
        assert_eq!(rates, [30, 60, 90, 120, 180, 240, 270, 300]);
        assert_eq!(
            (
                one.mcs_of(0, one.stations[0].rates[4]),
                one.mcs_of(0, BitRate::from_mbps(65))
            ),
            (Some(4), None)
        );
        let set = |control: &mut KeyboardControl, key, rate| {
            control
                .handle_key(Key::Char(key), rate)
                .map(|setting| setting.to_string())
        };
        assert_eq!(set(&mut one, b'-', rate(180)).unwrap(), "station.near.mcs = 3");
        // From here on the MCS is known.
        assert_eq!(set(&mut one, b'-', rate(300)).unwrap(), "station.near.mcs = 2");
        // A rate between two, as with one stream.
        assert_eq!(set(&mut control(), b'+', rate(65)).unwrap(), "station.near.mcs = 2");
        assert_eq!(set(&mut control(), b'-', rate(65)).unwrap(), "station.near.mcs = 1");
        assert_eq!(set(&mut control(), b'+', rate(300)), None);
        assert_eq!(set(&mut control(), b'-', rate(30)), None);
        // Before the first transmission, the rate that the signal permits counts.
        assert_eq!(set(&mut control(), b'-', None).unwrap(), "station.near.mcs = 6");
    }

    #[test]
    fn signals_and_rates_have_ends() {
        let mut control = control();
        let all = pressed(&mut control, &b"\x1b[C".repeat(20));
        assert_eq!(all.last().unwrap(), "station.near.signal = \"0 dBm\"");
        let all = pressed(&mut control, &b"\x1b[D".repeat(60));
        assert_eq!(all.last().unwrap(), "station.near.signal = \"-110 dBm\"");
        let all = pressed(&mut control, &b"-".repeat(20));
        assert_eq!(all.len(), 7);
        assert_eq!(all.last().unwrap(), "station.near.mcs = 0");
    }
}
