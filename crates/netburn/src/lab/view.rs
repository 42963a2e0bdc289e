//! Live view of the network in the last lines of the terminal, and keys that change settings.
//!
//! Output of programs scrolls above it. A separate process restores the terminal when this process ends for any reason.

use crate::exit::CliError;
use netburn_lab::keyboard::{Key, KeyboardControl, Keys};
use netburn_lab::{Lab, StationSnapshot};
use netburn_platform::terminal;
use netburn_report::sanitise::sanitise;
use netburn_scenario::Plan;
use std::io::{self, IsTerminal, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep_until};

/// Interval between redraws.
const EVERY: Duration = Duration::from_millis(500);

/// Number of lines besides those of the stations: head, queues, keys.
const OTHERS: u16 = 3;

/// The live view. Without a terminal it draws nothing.
pub(super) struct View {
    drawn: Option<Drawn>,
    next: Instant,
}

struct Drawn {
    control: KeyboardControl,
    keys: UnboundedReceiver<Key>,
    keeper: Child,
    /// Size of the terminal at the last layout.
    size: (u16, u16),
}

impl View {
    /// Sets up the terminal, if there is one.
    pub(super) fn open(plan: &Plan) -> View {
        let both = io::stdin().is_terminal() && io::stderr().is_terminal();
        let drawn = both.then(|| Drawn::open(plan)).flatten();
        View {
            drawn,
            next: Instant::now(),
        }
    }

    /// Draws the view and handles keys. Returns after an interval.
    pub(super) async fn look(&mut self, lab: &Lab) {
        let Some(drawn) = &mut self.drawn else {
            return tokio::time::sleep(EVERY).await;
        };
        tokio::select! {
            () = sleep_until(self.next) => {}
            Some(key) = drawn.keys.recv() => {
                let looks = lab.snapshots().1;
                let look = looks.get(drawn.control.selected());
                let (rate, position) = (look.and_then(|look| look.rate), look.and_then(|look| look.position));
                if let Some(setting) = drawn.control.handle_key(key, rate, position) {
                    lab.set(setting);
                }
            }
        }
        self.next = Instant::now() + EVERY;
        drawn.draw(lab);
    }
}

impl Drawn {
    fn open(plan: &Plan) -> Option<Drawn> {
        let control = KeyboardControl::new(plan)?;
        // The process that restores the terminal starts before the terminal is changed.
        let mut keeper = Command::new(std::env::current_exe().ok()?)
            .arg("restore-terminal")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The signals of the terminal must not reach this process.
            .process_group(0)
            .spawn()
            .ok()?;
        let mut ready = [0];
        keeper.stdout.take()?.read_exact(&mut ready).ok()?;
        terminal::set_key_input(io::stdin()).ok()?;
        let (tell, keys) = unbounded_channel();
        // The thread ends with the process.
        std::thread::spawn(move || {
            let mut parsed = Keys::default();
            for byte in io::stdin().lock().bytes().map_while(Result::ok) {
                if let Some(key) = parsed.handle_byte(byte)
                    && tell.send(key).is_err()
                {
                    return;
                }
            }
        });
        Some(Drawn {
            control,
            keys,
            keeper,
            size: (0, 0),
        })
    }

    fn draw(&mut self, lab: &Lab) {
        let Some(size) = terminal::size(io::stderr()) else {
            return;
        };
        let (_, looks) = lab.snapshots();
        let names = lab.names();
        let stations: Vec<(&str, &StationSnapshot)> = names.into_iter().zip(&looks).collect();
        let lines = lines(&stations, &self.control, size);
        let rows = lines.len() as u16;
        if rows + 2 > size.0 {
            return;
        }
        let top = size.0 - rows;
        let mut text = String::new();
        if self.size != size {
            self.size = size;
            // Reserves lines for the view; only the lines above scroll.
            text.push_str(&"\n".repeat(usize::from(rows)));
            text.push_str(&format!("\x1b[1;{top}r\x1b[{top};1H"));
        }
        text.push_str("\x1b7");
        for (line, row) in lines.iter().zip(top + 1..) {
            text.push_str(&format!("\x1b[{row};1H\x1b[2K{line}"));
        }
        text.push_str("\x1b8");
        // An error is ignored: SIGHUP reports the loss of the terminal.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

/// The lines of the view for a terminal with `rows` and `columns`.
fn lines(stations: &[(&str, &StationSnapshot)], control: &KeyboardControl, (rows, columns): (u16, u16)) -> Vec<String> {
    // At most half of the terminal: the stations around the selected one.
    let room = usize::from((rows / 2).saturating_sub(OTHERS)).max(1);
    let from = (control.selected() + 1).saturating_sub(room);
    let shown = stations.iter().enumerate().skip(from).take(room);
    let mut lines = vec!["  station      airtime  aggr.  queue  rate Mbit/s  MCS   signal  down Mbit/s  up".to_owned()];
    lines.extend(shown.map(|(number, (name, look))| {
        let mark = if number == control.selected() { '>' } else { ' ' };
        format!(
            "{mark} {}",
            line(name, look, look.rate.and_then(|rate| control.mcs_of(number, rate)))
        )
    }));
    let seen = stations.get(control.selected()).and_then(|(_, look)| look.position);
    let place = control
        .place(seen)
        .map(|(name, position)| format!("{name} is at {position} · "));
    lines.push(format!("  {}queues: {}", place.unwrap_or_default(), control.queues()));
    lines.push(format!("  {}", control.help()));
    let cut = |line: String| -> String { sanitise(&line).chars().take(usize::from(columns)).collect() };
    lines.into_iter().map(cut).collect()
}

/// The line of a station.
fn line(name: &str, look: &StationSnapshot, mcs: Option<u8>) -> String {
    let mbps = |rate: netburn_units::BitRate| rate.as_bps() as f64 / 1e6;
    let rate = look
        .rate
        .map_or_else(|| "-".to_owned(), |rate| format!("{:.1}", mbps(rate)));
    let mcs = mcs.map_or_else(|| "-".to_owned(), |mcs| mcs.to_string());
    let signal = look.signal.map_or_else(|| "-".to_owned(), |signal| signal.to_string());
    format!(
        "{name:<12} {:>6.0}%  {:>5.1}  {:>5}  {rate:>11}  {mcs:>3}  {signal:>7}  {:>6.1}  {:>6.1}",
        look.airtime * 100.0,
        look.aggregate,
        look.backlog,
        mbps(look.down),
        mbps(look.up)
    )
}

/// Main function of the process that restores the terminal. It restores the terminal when its standard input ends: when
/// the process that changed the terminal has ended.
pub(crate) fn keep_terminal() -> Result<(), CliError> {
    let failed = |error: io::Error| CliError::Failed(error.to_string());
    let modes = terminal::modes(io::stderr()).map_err(failed)?;
    io::stdout()
        .write_all(b"r")
        .and_then(|()| io::stdout().flush())
        .map_err(failed)?;
    // A read error counts as the end.
    let _ = io::copy(&mut io::stdin(), &mut io::sink());
    terminal::put_back(io::stderr(), &modes).map_err(failed)?;
    // The whole terminal scrolls again; output continues below the view.
    let last = terminal::size(io::stderr()).map_or(24, |(rows, _)| rows);
    let text = format!("\x1b[r\x1b[{last};1H\n");
    io::stderr().write_all(text.as_bytes()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_scenario::Document;
    use netburn_units::{BitRate, Dbm};

    #[test]
    fn the_view_fits_its_terminal() {
        let mut text = "[ap.home]\n[ap.home.radio.5g]\nstandard = \"802.11n\"\n".to_owned();
        for station in 0..30 {
            text.push_str(&format!(
                "[station.s{station}]\njoins = \"home.5g\"\nsignal = \"-60 dBm\"\nworkload = \"probe\"\n"
            ));
        }
        let plan = Document::from_toml("s.toml", &text).unwrap().resolve().unwrap();
        let mut control = KeyboardControl::new(&plan).unwrap();
        let look = StationSnapshot {
            airtime: 0.25,
            aggregate: 12.5,
            backlog: 7,
            down: BitRate::from_mbps(20),
            up: BitRate::from_mbps(1),
            rate: Some(BitRate::from_mbps(120)),
            signal: Some(Dbm::from_dbm(-60)),
            position: None,
        };
        let names: Vec<&str> = plan.stations.iter().map(|station| station.name.as_str()).collect();
        let stations: Vec<_> = names.iter().map(|name| (*name, &look)).collect();
        let drawn = lines(&stations, &control, (24, 80));
        assert_eq!(drawn.len(), 12);
        assert!(drawn.iter().all(|line| line.chars().count() <= 80));
        assert_eq!(
            drawn[1],
            "> s0               25%   12.5      7        120.0    3  -60 dBm    20.0     1.0"
        );
        assert!(drawn[11].contains("station"));
        for _ in 0..40 {
            control.handle_key(Key::Down, None, None);
        }
        let drawn = lines(&stations, &control, (24, 80));
        assert!(drawn[9].starts_with("> s29 "), "{drawn:?}");
        assert_eq!(lines(&stations, &control, (4, 20)).len(), 4);
    }
}
