//! The interface of a station's traffic, and the thread that samples it.

use super::link::Link;
use super::sample::Sample;
use netburn_platform::interface;
use netburn_platform::nl80211::recording::Kind;
use netburn_platform::nl80211::{Events, Nl80211, decode};
use netburn_record::Row;
use netburn_traffic::clock::RunClock;
use netburn_units::{Duration, Instant};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tokio::sync::mpsc::UnboundedSender;

/// Interval of sampling the link.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);
/// Interval of reading the byte counter, which is the precision of an interruption.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The interface of a station's traffic.
#[derive(Debug)]
pub struct Adapter {
    name: String,
    index: u32,
    /// True if the traffic is bound to the interface.
    bound: bool,
    wifi: Result<(Nl80211, Events), String>,
}

impl Adapter {
    /// Finds the interface of this name, or the one of the route to `server`.
    ///
    /// # Errors
    /// Human-readable message, if there is no such interface or no route.
    pub fn find(name: Option<&str>, server: IpAddr) -> Result<Adapter, String> {
        let bound = name.is_some();
        let name = match name {
            Some(name) => name.to_owned(),
            None => interface::towards(server).map_err(|error| format!("no route to {server}: {error}"))?,
        };
        let index = interface::number(&name).map_err(|_| format!("unknown interface `{name}`"))?;
        Ok(Adapter {
            wifi: wifi(index).map_err(|why| format!("no Wi-Fi samples: {name} {why}")),
            name,
            index,
            bound,
        })
    }

    /// Reason why there are no Wi-Fi samples, human-readable; `None` if there are.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.wifi.as_ref().err().map(String::as_str)
    }

    /// Starts sampling for these stations of the plan, until [`AdapterMonitor::end`]. `None` if there is
    /// nothing to sample: the interface has no Wi-Fi, and the traffic is not bound to it.
    ///
    /// # Errors
    /// If no thread can be started.
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
            // The receiver may have been dropped.
            if !rows.is_empty() && tell.send(rows).is_err() || over {
                return;
            }
        }
    }

    /// Waits for an event or the next poll, and reads the byte counter.
    fn step(&mut self, link: &mut Link, clock: &RunClock) {
        let event = match &mut self.wifi {
            Ok((_, events)) => events.next(POLL_INTERVAL),
            Err(_) => {
                std::thread::sleep(std::time::Duration::from_nanos(POLL_INTERVAL.as_nanos()));
                Ok(None)
            }
        };
        let now = clock.now();
        match event {
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
        // Without a counter, interruptions last as long as the events show.
        if let Ok(bytes) = interface::received(&self.name) {
            link.handle_bytes(now, bytes);
        }
    }

    fn sample(&mut self, link: &mut Link, now: Instant) {
        match interface::number(&self.name) {
            Err(_) => return link.handle_presence(now, &self.name, false),
            // The interface may have returned with another index.
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
                // Drivers do not support all requests, in particular surveys.
                Err(error) => tracing::trace!(%error, ?kind, "not told"),
            }
        }
        link.handle_sample(now, sample);
    }
}

/// Opens nl80211 for an interface, or returns the reason why it has no Wi-Fi.
fn wifi(index: u32) -> Result<(Nl80211, Events), String> {
    let mut wifi = Nl80211::open().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "isn't Wi-Fi (this kernel has none)".to_owned(),
        std::io::ErrorKind::Unsupported => "can't be sampled on this system".to_owned(),
        _ => format!("can't be queried: {error}"),
    })?;
    wifi.interface(index).map_err(|_| "isn't Wi-Fi".to_owned())?;
    let events = wifi.events().map_err(|error| format!("can't be monitored: {error}"))?;
    Ok((wifi, events))
}

/// The sampling thread.
#[derive(Debug)]
pub struct AdapterMonitor {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl AdapterMonitor {
    /// Ends sampling and records the end of the link. Takes about 20 ms.
    pub fn end(self) {
        self.stop.store(true, Ordering::Release);
        if self.thread.join().is_err() {
            tracing::error!("the thread that samples the Wi-Fi link panicked");
        }
    }
}
