//! The interface of a station's traffic, and the thread that samples it.

use super::link::Link;
use netburn_platform::interface;
use netburn_platform::wifi::WifiSource;
use netburn_record::Row;
use netburn_traffic::clock::RunClock;
use netburn_units::{Duration, Instant};
use std::io;
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
    wifi: Result<WifiSource, String>,
}

impl Adapter {
    /// Finds the interface of this name, or the one of the route to `server`. Some systems do not name the interface of a
    /// route: its adapter has a [`note`](Self::note) and no samples.
    ///
    /// # Errors
    /// Human-readable message, if there is no interface of this name, or no route.
    pub fn find(name: Option<&str>, server: IpAddr) -> Result<Adapter, String> {
        let bound = name.is_some();
        let name = match name {
            Some(name) => name.to_owned(),
            None => match interface::towards(server) {
                Ok(name) => name,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Adapter::unnamed(server)),
                Err(error) => return Err(format!("no route to {server}: {error}")),
            },
        };
        let index = match interface::number(&name) {
            Ok(index) => index,
            Err(_) if !bound => return Ok(Adapter::unnamed(server)),
            Err(_) => return Err(format!("unknown interface `{name}`")),
        };
        Ok(Adapter {
            wifi: WifiSource::open(index).map_err(|why| format!("no Wi-Fi samples: {name} {why}")),
            name,
            index,
            bound,
        })
    }

    /// The adapter of a route whose interface the system does not name.
    fn unnamed(server: IpAddr) -> Adapter {
        Adapter {
            wifi: Err(format!(
                "no Wi-Fi samples: this system does not name the interface of the route to {server}"
            )),
            name: String::new(),
            index: 0,
            bound: false,
        }
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
        let events = match &mut self.wifi {
            Ok(wifi) => wifi.next_events(self.index, POLL_INTERVAL),
            Err(_) => {
                std::thread::sleep(std::time::Duration::from_nanos(POLL_INTERVAL.as_nanos()));
                Ok(Vec::new())
            }
        };
        let now = clock.now();
        match events {
            Ok(events) => events.into_iter().for_each(|event| link.handle_event(now, event)),
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
        if let Ok(wifi) = &mut self.wifi {
            link.handle_sample(now, wifi.sample(self.index));
        }
    }
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
