//! Samples of TCP_INFO: once a second from open connections, and at the end of shorter ones.

use crate::client::Socket;
use netburn_driver::Scheduler;
use netburn_platform::tcp_info;
use netburn_record::{ConnectionRow, Row, Side};
use netburn_units::{Duration, Instant};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use tokio::net::TcpStream;

/// Sampling interval of a connection.
const INTERVAL: Duration = Duration::from_secs(1);
/// Maximum number of closing connections of one workload that are sampled per second.
const CLOSING_PER_SECOND: u32 = 10;

/// Open connections of a driver.
#[derive(Default)]
pub(super) struct Sampler {
    next_id: u64,
    open: BTreeMap<u64, Open>,
    /// For each workload: the second, and the number of closing connections sampled in it.
    closing: BTreeMap<usize, (i64, u32)>,
}

struct Open {
    machine: usize,
    socket: Weak<TcpStream>,
    port: u16,
    next: Instant,
}

/// A connection that is sampled while this value lives.
pub(super) struct SampledConnection {
    id: u64,
    sampler: Rc<RefCell<Sampler>>,
}

impl Sampler {
    /// Samples all due connections.
    pub(super) fn sample(&mut self, now: Instant, scheduler: &mut Scheduler) {
        let mut gone = Vec::new();
        for (id, open) in &mut self.open {
            if open.next > now {
                continue;
            }
            open.next = now + INTERVAL;
            match open.socket.upgrade() {
                Some(socket) => put(open.machine, &socket, open.port, now, scheduler),
                None => gone.push(*id),
            }
        }
        for id in gone {
            self.open.remove(&id);
        }
    }

    /// Samples all connections a last time.
    pub(super) fn sample_all(&mut self, now: Instant, scheduler: &mut Scheduler) {
        self.open.values_mut().for_each(|open| open.next = now);
        self.sample(now, scheduler);
    }

    /// A connection of a workload was opened at `now`. It is sampled within a second.
    pub(super) fn watch(this: &Rc<RefCell<Self>>, machine: usize, socket: &Socket, now: Instant) -> SampledConnection {
        let mut sampler = this.borrow_mut();
        let id = sampler.next_id;
        sampler.next_id += 1;
        let open = Open {
            machine,
            socket: socket.observe(),
            port: socket.tcp().local_addr().map_or(0, |address| address.port()),
            next: now + INTERVAL,
        };
        sampler.open.insert(id, open);
        SampledConnection {
            id,
            sampler: Rc::clone(this),
        }
    }

    /// The response has arrived and the connection is about to be closed: takes the last sample, unless there were too
    /// many.
    pub(super) fn closing(sampled: &SampledConnection, now: Instant, scheduler: &mut Scheduler) {
        let mut sampler = sampled.sampler.borrow_mut();
        let Some(open) = sampler.open.get(&sampled.id) else {
            return;
        };
        let (machine, port, socket) = (open.machine, open.port, open.socket.upgrade());
        let second = now.as_nanos().div_euclid(1_000_000_000);
        let (last, looks) = sampler.closing.entry(machine).or_default();
        if *last != second {
            (*last, *looks) = (second, 0);
        }
        *looks += 1;
        if *looks <= CLOSING_PER_SECOND
            && let Some(socket) = socket
        {
            put(machine, &socket, port, now, scheduler);
        }
    }
}

impl Drop for SampledConnection {
    fn drop(&mut self) {
        self.sampler.borrow_mut().open.remove(&self.id);
    }
}

fn put(machine: usize, socket: &TcpStream, port: u16, now: Instant, scheduler: &mut Scheduler) {
    let Ok(info) = tcp_info(socket) else { return };
    let micros = |span: Duration| u32::try_from(span.as_nanos() / 1000).unwrap_or(u32::MAX);
    let (station, workload) = scheduler.place(machine);
    scheduler.put(Row::Connection(ConnectionRow {
        station,
        workload,
        side: Side::Station,
        port,
        at: now,
        rtt_us: micros(info.rtt),
        rtt_var_us: micros(info.rtt_var),
        cwnd: info.cwnd,
        retransmits: info.retransmits,
        delivery_rate_bps: info.delivery_rate.map_or(0, netburn_units::BitRate::as_bps),
        bytes_acked: info.bytes_acked.as_bytes(),
        bytes_received: info.bytes_received.as_bytes(),
    }));
}
