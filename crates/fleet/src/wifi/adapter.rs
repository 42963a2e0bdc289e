//! The interface that a station's traffic goes by, and the thread that looks at it.

use super::link::Link;
use super::sample::Sample;
use netburn_linux::interface;
use netburn_linux::nl80211::recording::Kind;
use netburn_linux::nl80211::{Events, Nl80211, decode};
use netburn_record::Row;
use netburn_traffic::clock::RunClock;
use netburn_units::{Duration, Instant};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedSender;

/// A look at the link this often.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);
/// Its counter is read this often: what a gap is exact to.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The interface that a station's traffic goes by.
#[derive(Debug)]
pub struct Adapter {
    name: String,
    index: u32,
    /// Whether it was asked for by its name, so that the traffic goes by no other.
    bound: bool,
    wifi: Result<(Nl80211, Events), String>,
}

impl Adapter {
    /// The interface of this name, else the one that the route to `server` takes.
    ///
    /// # Errors
    /// When there is no such interface, or no route: a sentence for people.
    pub fn find(name: Option<&str>, server: IpAddr) -> Result<Adapter, String> {
        let bound = name.is_some();
        let name = match name {
            Some(name) => name.to_owned(),
            None => interface::towards(server).map_err(|error| format!("no interface leads to {server}: {error}"))?,
        };
        let index = interface::number(&name).map_err(|_| format!("there is no interface `{name}` on this machine"))?;
        Ok(Adapter {
            wifi: wifi(index).map_err(|why| format!("no Wi-Fi facts: {name} {why}")),
            name,
            index,
            bound,
        })
    }

    /// Why there will be no Wi-Fi facts, where there won't: a sentence for people.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.wifi.as_ref().err().map(String::as_str)
    }

    /// Looks at it from now on, for these stations of the plan, until [`AdapterMonitor::end`]. `None` where there is nothing to look at: it
    /// has no Wi-Fi, and the traffic isn't bound to it.
    ///
    /// # Errors
    /// When no thread can be had.
    pub fn watch(
        self,
        stations: Vec<u16>,
        clock: RunClock,
        tell: UnboundedSender<Vec<Row>>,
    ) -> std::io::Result<Option<AdapterMonitor>> {
        if self.wifi.is_err() && !self.bound {
            return Ok(None);
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("netburn-wifi".to_owned());
        let thread = thread.spawn(move || self.run(Link::new(stations), clock, &tell, &stopped))?;
        Ok(Some(AdapterMonitor { stop, thread }))
    }

    fn run(mut self, mut link: Link, clock: RunClock, tell: &UnboundedSender<Vec<Row>>, stop: &AtomicBool) {
        let mut due = clock.now();
        loop {
            self.step(&mut link, &clock);
            let now = clock.now();
            let over = stop.load(Ordering::Acquire);
            if now >= due && !over {
                self.sample(&mut link, now);
                due = (due + SAMPLE_INTERVAL).max(now);
            }
            if over {
                link.handle_end(now);
            }
            let rows: Vec<Row> = std::iter::from_fn(|| link.poll_row()).collect();
            // Who listened may be gone already.
            if !rows.is_empty() && tell.send(rows).is_err() || over {
                return;
            }
        }
    }

    /// Waits a step for events, and reads the counter.
    fn step(&mut self, link: &mut Link, clock: &RunClock) {
        let told = match &mut self.wifi {
            Ok((_, events)) => events.next(POLL_INTERVAL),
            Err(_) => {
                std::thread::sleep(std::time::Duration::from_nanos(POLL_INTERVAL.as_nanos()));
                Ok(None)
            }
        };
        let now = clock.now();
        match told {
            Ok(Some(datagram)) => {
                for event in decode::events(&datagram)
                    .into_iter()
                    .filter(|event| event.index() == self.index)
                {
                    link.handle_event(now, event);
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "no more Wi-Fi events");
                self.wifi = Err(error.to_string());
            }
        }
        // Where there are no counters, gaps are as long as the events say.
        if let Ok(bytes) = interface::received(&self.name) {
            link.handle_bytes(now, bytes);
        }
    }

    fn sample(&mut self, link: &mut Link, now: Instant) {
        match interface::number(&self.name) {
            Err(_) => return link.handle_presence(now, &self.name, false),
            // It may have come back with another number.
            Ok(index) => self.index = index,
        }
        link.handle_presence(now, &self.name, true);
        let Ok((wifi, _)) = &mut self.wifi else { return };
        let mut sample = Sample::default();
        for (kind, answer) in [
            (Kind::Interface, wifi.interface(self.index)),
            (Kind::Station, wifi.stations(self.index)),
            (Kind::Survey, wifi.survey(self.index)),
        ] {
            match answer {
                Ok(datagrams) => datagrams.iter().for_each(|datagram| sample.add(kind, datagram)),
                // Not every driver has everything, a survey least of all.
                Err(error) => tracing::trace!(%error, ?kind, "not told"),
            }
        }
        link.handle_sample(now, sample);
    }
}

/// A conversation about an interface, where it has Wi-Fi; else what it has not.
fn wifi(index: u32) -> Result<(Nl80211, Events), String> {
    let mut wifi = Nl80211::open().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "isn't Wi-Fi (this kernel has none)".to_owned(),
        std::io::ErrorKind::Unsupported => "isn't looked at on this system".to_owned(),
        _ => format!("can't be asked: {error}"),
    })?;
    wifi.interface(index).map_err(|_| "isn't Wi-Fi".to_owned())?;
    let events = wifi
        .events()
        .map_err(|error| format!("can't be listened to: {error}"))?;
    Ok((wifi, events))
}

/// The thread that looks.
#[derive(Debug)]
pub struct AdapterMonitor {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl AdapterMonitor {
    /// Ends it: what is still to be said of the link is said. Takes some 20 ms.
    pub fn end(self) {
        self.stop.store(true, Ordering::Release);
        if self.thread.join().is_err() {
            tracing::error!("the thread that looked at the Wi-Fi link panicked");
        }
    }
}
