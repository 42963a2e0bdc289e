//! The thread that carries packets: a [`Switch`] against the clock.
//!
//! It sleeps until a file can be read or shortly before something is due, and spins for the rest. The switch works in model time:
//! what is due at an instant happens at that instant there, however late this thread looks, so lateness shifts single deliveries and
//! never accumulates.

mod asks;
mod carrier;
mod looks;

use crate::calls::{Call, Reply};
use crate::capture::Captures;
use crate::device::Device;
use crate::error::LabError;
use crate::hold::Hold;
use crate::switch::{Counted, Switch, Tapped};
use netburn_linux::Monotonic;
use netburn_linux::diag::Diag;
use netburn_linux::route::Route;
use netburn_medium::air::Transmission;
use netburn_network::Endpoint;
use netburn_record::{EventKind, EventRow, LabHealth, Row};
use netburn_scenario::Plan;
use netburn_scenario::plan::Setting;
use netburn_units::{Duration, Instant};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use carrier::Carrier;

/// A node's end out here.
#[derive(Debug)]
pub(crate) struct Port {
    pub(crate) end: Endpoint,
    pub(crate) device: Device,
    /// Talks about the node's namespace.
    pub(crate) route: Route,
    /// Makes the queue before the device move.
    pub(crate) raw: OwnedFd,
    /// Tells of the node's connections, where the kernel does.
    pub(crate) diag: Option<Diag>,
    pub(crate) index: u32,
    pub(crate) hold: Hold,
    /// Whether it isn't read for now.
    pub(crate) paused: bool,
}

/// What the thread is told.
#[derive(Debug)]
pub(crate) enum Order {
    /// The network begins.
    Begin(Box<Beginning>),
    /// A call is replied to.
    Reply(Call, Reply),
    /// A setting changes, by hand.
    Set(Setting),
    /// Nothing more.
    Stop,
}

/// How a network begins.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) switch: Switch,
    /// Its time 0.
    pub(crate) zero: Monotonic,
    /// Where captures go.
    pub(crate) captures: Option<Sender<Seen>>,
    /// Where calls go.
    pub(crate) calls: Option<Sender<Call>>,
}

/// What was seen since the last time, for a capture.
pub(crate) type Seen = (Vec<Tapped>, Vec<Transmission>);

/// What the thread shows.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) rows: Vec<Row>,
    pub(crate) counted: Counted,
    pub(crate) health: LabHealth,
    pub(crate) stations: Vec<crate::observe::StationLook>,
    pub(crate) now: Option<Instant>,
    pub(crate) failed: Option<String>,
    /// Whether captures are not whole.
    pub(crate) captures_lost: bool,
    /// What people should know, not yet fetched; at whose end it is.
    pub(crate) warnings: Vec<(Option<Endpoint>, String)>,
}

impl Shown {
    /// The thread stood still for so long until now: for the record.
    fn stood_still(&mut self, now: Instant, late: Duration) {
        self.rows.push(Row::Event(EventRow {
            station: None,
            workload: None,
            at: now - late,
            length: late.as_nanos(),
            kind: EventKind::Warning,
            text: "the lab stood still: no packet was carried".to_owned(),
        }));
    }

    /// An end's device is gone: for whoever watches, and for the record.
    fn lose(&mut self, end: Endpoint, at: Instant, error: &io::Error) {
        let text =
            format!("its network device can't be read any more ({error}); nothing is carried for it from here on");
        let station = match end {
            Endpoint::Server => None,
            Endpoint::Station(number) => Some(number),
        };
        self.rows.push(Row::Event(EventRow {
            station,
            workload: None,
            at,
            length: 0,
            kind: EventKind::Warning,
            text: match station {
                Some(_) => text.clone(),
                None => format!("server: {text}"),
            },
        }));
        self.warnings.push((Some(end), text));
    }
}

/// The thread.
#[derive(Debug)]
pub(crate) struct Engine {
    orders: Sender<Order>,
    wake: UnixStream,
    shown: Arc<Mutex<Shown>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Engine {
    pub(crate) fn start(ports: Vec<Port>, plan: &Plan, shown: Arc<Mutex<Shown>>) -> Result<Engine, LabError> {
        let (orders, ordered) = channel();
        let (wake, woken) = UnixStream::pair().map_err(LabError::Carry)?;
        wake.set_nonblocking(true).map_err(LabError::Carry)?;
        woken.set_nonblocking(true).map_err(LabError::Carry)?;
        let mut carrier = Carrier::new(ports, plan, ordered, woken, Arc::clone(&shown)).map_err(LabError::Carry)?;
        let thread = std::thread::Builder::new().name("air".to_owned()).spawn(move || {
            if let Err(error) = carrier.run() {
                tracing::debug!(%error, "packets are no longer carried");
                let mut shown = carrier.shown();
                shown
                    .warnings
                    .push((None, format!("packets are no longer carried: {error}")));
                shown.failed = Some(error.to_string());
            }
        });
        Ok(Engine {
            orders,
            wake,
            shown,
            thread: Mutex::new(Some(thread.map_err(LabError::Carry)?)),
            writer: Mutex::new(None),
        })
    }

    /// Writes captures on a thread of its own; what goes into them is sent to where this says.
    pub(crate) fn write(&self, mut captures: Captures) -> io::Result<Sender<Seen>> {
        let (tell, seen) = channel::<Seen>();
        let shown = Arc::clone(&self.shown);
        let writer = std::thread::Builder::new().name("captures".to_owned()).spawn(move || {
            for (taps, air) in seen {
                if let Err(error) = captures.put(&taps, &air) {
                    let text = format!("the captures can't be written and end here: {error}");
                    let mut shown = lock(&shown);
                    shown.warnings.push((None, text));
                    shown.captures_lost = true;
                    return;
                }
            }
        })?;
        *lock(&self.writer) = Some(writer);
        Ok(tell)
    }

    pub(crate) fn order(&self, order: Order) {
        // It fails only once the thread has ended, which is shown.
        let _ = self.orders.send(order);
        let _ = (&self.wake).write(&[1]);
    }

    pub(crate) fn shown(&self) -> MutexGuard<'_, Shown> {
        lock(&self.shown)
    }

    /// Carries nothing more; what is shown is complete afterwards, and captures are whole.
    pub(crate) fn stop(&self) {
        self.order(Order::Stop);
        // The writer ends with the thread that tells it.
        for thread in [&self.thread, &self.writer] {
            let thread = lock(thread).take();
            if let Some(thread) = thread {
                let _ = thread.join();
            }
        }
    }
}

/// What a mutex guards; nothing here is left half changed when a thread panics.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}
