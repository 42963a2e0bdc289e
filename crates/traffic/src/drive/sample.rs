//! TCP_INFO of open connections, once a second, and of those that don't live that long.

use super::scheduler::Scheduler;
use crate::client::Socket;
use netburn_linux::tcp_info;
use netburn_record::{ConnectionRow, Row, Side};
use netburn_units::{Duration, Instant};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use tokio::net::TcpStream;

/// A connection is looked at this often.
const EVERY: Duration = Duration::from_secs(1);
/// As many closing connections of one workload are looked at in a second.
const CLOSING_PER_SECOND: u32 = 10;

/// The open connections of a driver.
#[derive(Default)]
pub(super) struct Sampler {
    next_id: u64,
    open: BTreeMap<u64, Open>,
    /// For each machine: the second, and how many closing connections were looked at in it.
    closing: BTreeMap<usize, (i64, u32)>,
}

struct Open {
    machine: usize,
    socket: Weak<TcpStream>,
    port: u16,
    next: Instant,
}

/// A connection that is looked at for as long as this lives.
pub(super) struct SampledConnection {
    id: u64,
    sampler: Rc<RefCell<Sampler>>,
}

impl Sampler {
    /// Looks at every connection whose time has come.
    pub(super) fn look(&mut self, now: Instant, scheduler: &mut Scheduler) {
        let mut gone = Vec::new();
        for (id, open) in &mut self.open {
            if open.next > now {
                continue;
            }
            open.next = now + EVERY;
            match open.socket.upgrade() {
                Some(socket) => put(open.machine, &socket, open.port, now, scheduler),
                None => gone.push(*id),
            }
        }
        for id in gone {
            self.open.remove(&id);
        }
    }

    /// Looks at every connection one last time.
    pub(super) fn look_at_all(&mut self, now: Instant, scheduler: &mut Scheduler) {
        self.open.values_mut().for_each(|open| open.next = now);
        self.look(now, scheduler);
    }

    /// A connection of a machine has opened at `now`. Its first look comes within a second.
    pub(super) fn watch(this: &Rc<RefCell<Self>>, machine: usize, socket: &Socket, now: Instant) -> SampledConnection {
        let mut sampler = this.borrow_mut();
        let id = sampler.next_id;
        sampler.next_id += 1;
        let open = Open {
            machine,
            socket: socket.observe(),
            port: socket.tcp().local_addr().map_or(0, |address| address.port()),
            next: now + EVERY,
        };
        sampler.open.insert(id, open);
        SampledConnection {
            id,
            sampler: Rc::clone(this),
        }
    }

    /// The answer over this connection has come and it is about to be closed: the last look, unless there were many.
    pub(super) fn closing(watched: &SampledConnection, now: Instant, scheduler: &mut Scheduler) {
        let mut sampler = watched.sampler.borrow_mut();
        let Some(open) = sampler.open.get(&watched.id) else {
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
