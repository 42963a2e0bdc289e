//! The air, while it runs: a line per station, several times a second.

use netburn_lab::{Lab, StationLook};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often it is drawn.
const EVERY: Duration = Duration::from_millis(500);

static DRAWN: AtomicBool = AtomicBool::new(false);

/// Waits a moment and draws; on what is no terminal it only waits.
pub(super) async fn look(lab: &Lab) {
    tokio::time::sleep(EVERY).await;
    let mut out = std::io::stderr().lock();
    if !out.is_terminal() {
        return;
    }
    let (_, looks) = lab.looks();
    let names = lab.names();
    // Over what was drawn last.
    let up = if DRAWN.swap(true, Ordering::Relaxed) {
        format!("\x1b[{}A", looks.len() + 1)
    } else {
        String::new()
    };
    let mut text =
        format!("{up}\x1b[Kstation          airtime  aggregate  queue  rate Mbit/s  signal     down      up\n");
    for (name, look) in names.iter().zip(&looks) {
        text.push_str(&format!("\x1b[K{}\n", line(name, look)));
    }
    let _ = out.write_all(text.as_bytes());
}

/// One station's line.
fn line(name: &str, look: &StationLook) -> String {
    let mbps = |rate: netburn_units::BitRate| rate.as_bps() as f64 / 1e6;
    let signal = look.signal.map_or_else(|| "-".to_owned(), |signal| signal.to_string());
    format!(
        "{name:<16} {:>6.0}%  {:>9.1}  {:>5}  {:>11.1}  {signal:>8}  {:>6.1}  {:>6.1}",
        look.airtime * 100.0,
        look.aggregate,
        look.backlog,
        mbps(look.rate),
        mbps(look.down),
        mbps(look.up)
    )
}
