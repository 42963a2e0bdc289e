//! Keys that change settings of the network while it runs. Pure.

use netburn_medium::config::LinkQuality;
use netburn_medium::geometry::Position;
use netburn_medium::queue::{Place, QueueKind};
use netburn_network::Network;
use netburn_scenario::Plan;
use netburn_scenario::plan::{ApSetting, Setting, StationSetting};
use netburn_units::{BitRate, Dbm, Instant};

/// Help on the keys, for the last line of the view.
pub const KEYS: &str =
    "up/down station · left/right signal −/+ 3 dB · -/+ MCS · q queue of its access point · Ctrl-C ends";

/// Help on the keys, when the selected station has a position.
pub const POSITION_KEYS: &str =
    "n/p station · arrows move it by 1 m · -/+ MCS · q queue of its access point · Ctrl-C ends";

/// Change of a position by one key press, in mm.
const STEP_MM: i64 = 1_000;
/// Largest coordinate of a scenario, in mm.
const MAX_MM: i64 = 10_000_000;
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
    stations: Vec<ControlledStation>,
    /// Name and queue of each access point.
    aps: Vec<(String, QueueKind)>,
    selected: usize,
    /// A network that validates settings. A setting that it rejects changes nothing.
    model: Network<()>,
}

#[derive(Debug)]
struct ControlledStation {
    name: String,
    ap: usize,
    /// Position at the start, or the one set last; `None`: it has none.
    position: Option<Position>,
    /// True if keys have set the position or ended the walk: the network has no newer position.
    placed: bool,
    signal: Option<Dbm>,
    mcs: Option<u8>,
    /// Rate of each MCS of the link, indexed by the MCS.
    rates: Vec<BitRate>,
}

impl ControlledStation {
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
            ControlledStation {
                name: station.name.clone(),
                ap: plan.aps.iter().position(|known| known.name == ap).unwrap_or_default(),
                position: model.position(number),
                placed: false,
                signal: model.link_stats(number).signal,
                mcs: match station.air.quality {
                    Some(LinkQuality::Mcs(mcs)) => Some(mcs),
                    _ => station.air.fixed_mcs,
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

    /// Help on the keys that act on the selected station.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.position() {
            Some(_) => POSITION_KEYS,
            None => KEYS,
        }
    }

    /// Position of the selected station, as set last or at the start; `None`: it has none.
    #[must_use]
    pub fn position(&self) -> Option<Position> {
        self.stations.get(self.selected)?.position
    }

    /// Name and position of the selected station, if it has one. `seen` is its position in the network.
    #[must_use]
    pub fn place(&self, seen: Option<Position>) -> Option<(&str, Position)> {
        let station = self.stations.get(self.selected)?;
        let position = if station.placed { station.position } else { seen };
        Some((station.name.as_str(), position.or(station.position)?))
    }

    /// Handles a key. Returns the setting to apply. `rate` is the rate of the last transmission to the selected station,
    /// and `seen` its position in the network.
    ///
    /// Arrows move a station that has a position. For others they select a station and change the signal.
    pub fn handle_key(&mut self, key: Key, rate: Option<BitRate>, seen: Option<Position>) -> Option<Setting> {
        let last = self.stations.len().checked_sub(1)?;
        let by = match key {
            Key::Left => Some((-STEP_MM, 0)),
            Key::Right => Some((STEP_MM, 0)),
            Key::Up => Some((0, STEP_MM)),
            Key::Down => Some((0, -STEP_MM)),
            Key::Char(_) => None,
        };
        if let (Some(by), Some(_)) = (by, self.position()) {
            return self.walk(by, seen);
        }
        match key {
            Key::Up | Key::Char(b'p') => self.selected = self.selected.saturating_sub(1),
            Key::Down | Key::Char(b'n' | b'\t') => self.selected = (self.selected + 1).min(last),
            Key::Left => return self.signal(-STEP_DB),
            Key::Right => return self.signal(STEP_DB),
            Key::Char(sign @ (b'-' | b'+' | b'=')) => {
                let position = self.place(seen).map(|(_, position)| position);
                let setting = self.mcs(sign != b'-', rate)?;
                // A fixed MCS ends a walk. The arrows go on from this position.
                let station = &mut self.stations[self.selected];
                (station.position, station.placed) = (position, true);
                return Some(setting);
            }
            Key::Char(b'q') => return self.queue(),
            Key::Char(_) => {}
        }
        None
    }

    /// Moves the selected station by this many mm to the east and to the north.
    fn walk(&mut self, (east, north): (i64, i64), seen: Option<Position>) -> Option<Setting> {
        let (_, from) = self.place(seen)?;
        let station = &mut self.stations[self.selected];
        let position = Position {
            x: (from.x + east).clamp(-MAX_MM, MAX_MM),
            y: (from.y + north).clamp(-MAX_MM, MAX_MM),
            floor: from.floor,
        };
        station.position = Some(position);
        station.placed = true;
        // The link quality of its MCS ends.
        station.mcs = None;
        let setting = Setting::Station(station.name.clone(), StationSetting::Position(position));
        self.model.set(Instant::ZERO, &setting);
        Some(setting)
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
        let kinds = QueueKind::all_on(Place::Radio);
        let at = kinds.iter().position(|kind| kind == queue)?;
        *queue = kinds[(at + 1) % kinds.len()];
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
        keys.filter_map(|key| control.handle_key(key, None, None))
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
        // Each press selects the next discipline. After the last one comes the first.
        let kinds = QueueKind::all_on(Place::Radio);
        for kind in kinds.iter().cycle().skip(1).take(kinds.len()) {
            let name = kind.name();
            assert_eq!(pressed(&mut control, b"qx"), [format!("ap.home.queue = \"{name}\"")]);
            assert_eq!(control.queues(), format!("home {name}"));
        }
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
                .handle_key(Key::Char(key), rate, None)
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

    /// A station with a position, one on a path, and one with a signal.
    fn building() -> KeyboardControl {
        let text = r#"
            [ap.home]
            position = "0 m, 0 m"
            radio.5g = {}
            [station.desk]
            joins = "home.5g"
            position = "2.5 m, 1 m, floor 1"
            [station.phone]
            joins = "home.5g"
            path = ["1 m, 0 m", "9 m, 0 m"]
            [station.tv]
            joins = "home.5g"
            signal = "-50 dBm"
        "#;
        KeyboardControl::new(&Document::from_toml("s.toml", text).unwrap().resolve().unwrap()).unwrap()
    }

    /// Left is west, up is north, and a key press is 1 m.
    #[test]
    fn arrows_move_a_station_with_a_position() {
        let mut control = building();
        assert_eq!(control.help(), POSITION_KEYS);
        assert_eq!(
            pressed(&mut control, b"\x1b[C\x1b[A\x1b[D\x1b[D\x1b[B"),
            [
                "station.desk.position = \"3.5 m, 1 m, floor 1\"",
                "station.desk.position = \"3.5 m, 2 m, floor 1\"",
                "station.desk.position = \"2.5 m, 2 m, floor 1\"",
                "station.desk.position = \"1.5 m, 2 m, floor 1\"",
                "station.desk.position = \"1.5 m, 1 m, floor 1\"",
            ]
        );
        // n, Tab and p select; the station without a position keeps the other meaning of the arrows.
        assert_eq!(pressed(&mut control, b"\tn\x1b[D"), ["station.tv.signal = \"-53 dBm\""]);
        assert_eq!(control.help(), KEYS);
        assert_eq!(
            pressed(&mut control, b"pp\x1b[C"),
            ["station.desk.position = \"2.5 m, 1 m, floor 1\""]
        );
    }

    /// The walk ends where the station is, and the keys move the station from that position.
    #[test]
    fn a_walk_ends_with_the_first_arrow() {
        let mut control = building();
        pressed(&mut control, b"n");
        let seen = |x| Some(Position { x, y: 0, floor: 0 });
        let mut press = |key, seen| control.handle_key(key, None, seen).map(|setting| setting.to_string());
        assert_eq!(
            press(Key::Up, seen(4_200)).unwrap(),
            "station.phone.position = \"4.2 m, 1 m\""
        );
        // The view of the network is older than the last key.
        assert_eq!(
            press(Key::Right, seen(4_200)).unwrap(),
            "station.phone.position = \"5.2 m, 1 m\""
        );
        assert_eq!(
            control.place(seen(0)).unwrap().1,
            Position {
                x: 5_200,
                y: 1_000,
                floor: 0
            }
        );
    }

    #[test]
    fn positions_have_ends() {
        let mut control = building();
        let all = pressed(&mut control, &b"\x1b[D".repeat(10_010));
        assert_eq!(
            all.last().unwrap(),
            "station.desk.position = \"-10000 m, 1 m, floor 1\""
        );
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
