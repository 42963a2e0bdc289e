//! The thread itself.

use super::asks::Asks;
use super::looks::Looks;
use super::{Beginning, Order, Port, Seen, Shown};
use crate::ahead::Pace;
use crate::calls::{Call, Reply};
use crate::device::Taken;
use crate::hold::Hold;
use crate::lateness::Work;
use crate::observe::Observer;
use crate::packet::Refused;
use crate::senders::Ends;
use crate::switch::Switch;
use netburn_linux::clock::slept;
use netburn_linux::cpu::{self, MachineTimes, ThreadId};
use netburn_linux::diag::Diag;
use netburn_linux::wait::{Wait, run_first};
use netburn_linux::{Monotonic, raw, set_timer_slack};
use netburn_medium::air::{DeliveryBound, Expected};
use netburn_network::Endpoint;
use netburn_record::self_check::standstill_limit;
use netburn_scenario::Plan;
use netburn_units::{Duration, Instant};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// From here on it spins: a sleeping thread is back on its processor within some 50 µs.
const SPIN: Duration = Duration::from_micros(50);
/// What it usually takes until a sleeping thread is back.
const WAKING: Duration = Duration::from_micros(25);
/// What is due so soon after a delivery waits for so long and is delivered together: as long as network devices gather what they
/// received before they interrupt.
const GATHER: Duration = Duration::from_micros(40);
/// What can be seen from outside is looked at this often.
const TICK: Duration = Duration::from_millis(100);
/// Below timers' and interrupts' own threads, above everything that isn't real-time.
const PRIORITY: i32 = 10;
/// Frames read from one device before the others have their turn.
const TURN: usize = 64;
/// A frame: 64 KiB behind its header.
const FRAME: usize = 66 * 1024;
/// Standstills that become events of the record, at most.
const MAX_STANDSTILLS: u32 = 50;
/// Rows that nobody fetched are kept up to so many; then the oldest go.
const KEPT_ROWS: usize = 200_000;

pub(super) struct Carrier {
    ports: Vec<Port>,
    wait: Wait,
    woken: UnixStream,
    orders: Receiver<Order>,
    running: Option<Running>,
    observer: Observer,
    shown: Arc<Mutex<Shown>>,
    buffer: Vec<u8>,
    work: Work,
    /// A standstill of this length is an event of the record.
    standstill: Duration,
    /// How many more of them may be.
    standstills_left: u32,
    /// Frames that found no room at our end.
    overrun: u64,
    looks: Looks,
}

struct Running {
    switch: Switch,
    zero: Monotonic,
    tick: Instant,
    asks: Asks,
    /// When the last delivery was made.
    delivered: Instant,
    drops_before: u64,
    since: Monotonic,
    cpu: Duration,
    machine: MachineTimes,
    /// How long the machine had been suspended before.
    slept: Duration,
    captures: Option<Sender<Seen>>,
    calls: Option<Sender<Call>>,
}

impl Running {
    /// Sends off what was seen for the captures.
    fn send_seen(&mut self) {
        let Some(captures) = &self.captures else { return };
        let network = self.switch.network_mut();
        let air = std::iter::from_fn(|| network.poll_transmission())
            .map(|(_, transmission)| transmission)
            .collect();
        // Who wrote them has given up, and said so.
        if captures.send((self.switch.take_taps(), air)).is_err() {
            self.captures = None;
        }
    }

    /// The network's time now.
    fn now(&self) -> Instant {
        Instant::from_nanos(Monotonic::now().as_nanos() - self.zero.as_nanos())
    }

    /// The clock's time at an instant of the network.
    fn when(&self, at: Instant) -> Monotonic {
        Monotonic::from_nanos(at.as_nanos().saturating_add(self.zero.as_nanos()))
    }
}

/// The number of the file that wakes it, beside those of the ports.
const WOKEN: u32 = u32::MAX - 1;

/// What is sent after a grant to make a queue move: an IPv4 header of protocol 253, which is for experiments (RFC 3692), to the
/// sender itself. We throw it away.
fn nudge(end: Endpoint) -> [u8; 20] {
    let address = crate::address::v4(end).octets();
    let mut packet = [0x45, 0, 0, 20, 0, 0, 0x40, 0, 1, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    packet[12..16].copy_from_slice(&address);
    packet[16..20].copy_from_slice(&address);
    packet
}

fn paces(diag: &mut Diag, senders: Vec<Ends>) -> Vec<Pace> {
    let pace = |(here, there)| {
        // One that is gone by now paces no more.
        let info = diag.connection(here, there).ok()??;
        Some(Pace {
            rate: info.pacing_rate?,
            mss: info.mss.max(1),
            min_rtt: Some(info.min_rtt),
        })
    };
    senders.into_iter().filter_map(pace).collect()
}

impl Carrier {
    pub(super) fn new(
        ports: Vec<Port>,
        plan: &Plan,
        orders: Receiver<Order>,
        woken: UnixStream,
        shown: Arc<Mutex<Shown>>,
    ) -> io::Result<Carrier> {
        let wait = Wait::new()?;
        for (port, number) in ports.iter().zip(0..) {
            wait.add(&port.device, number)?;
        }
        wait.add(&woken, WOKEN)?;
        Ok(Carrier {
            ports,
            wait,
            woken,
            orders,
            running: None,
            observer: Observer::new(plan),
            shown,
            buffer: vec![0; FRAME],
            work: Work::default(),
            standstill: standstill_limit(plan),
            standstills_left: MAX_STANDSTILLS,
            overrun: 0,
            looks: Looks::new(Monotonic::now()),
        })
    }

    pub(super) fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn run(&mut self) -> io::Result<()> {
        set_timer_slack(1)?;
        self.work.real_time = run_first(PRIORITY).is_ok();
        let (mut ready, mut done) = (Vec::new(), false);
        loop {
            let now = Monotonic::now();
            // What kernels answer at once to what was delivered lies there already, and what they send of what was granted.
            let until = if done { Some(now) } else { self.due() };
            if let Some(until) = until
                && self.looks.much()
                && until > now
            {
                self.wait.sleep(until)?;
            }
            self.wait.wait(until, &mut ready)?;
            self.look();
            let mut frames = 0;
            for number in &ready {
                if *number == WOKEN {
                    if !self.obey() {
                        return Ok(());
                    }
                } else {
                    frames += self.read(*number as usize)?;
                }
            }
            self.looks.handle_look(Monotonic::now(), frames);
            done = self.carry()?;
            self.resume()?;
        }
    }

    /// Looks at the clock, which shows how long it stood still.
    fn look(&mut self) {
        let Some(running) = &self.running else { return };
        let now = running.now();
        let late = self.work.standstills.handle_poll(now);
        let Some(late) = late.filter(|late| *late > self.standstill) else {
            return;
        };
        tracing::info!(%late, "the lab stood still");
        if self.standstills_left > 0 {
            self.standstills_left -= 1;
            super::lock(&self.shown).stood_still(now, late);
        }
    }

    /// Until when to sleep.
    fn due(&mut self) -> Option<Monotonic> {
        let much = self.looks.much();
        let running = self.running.as_mut()?;
        let tick = running.when(running.tick);
        let foreseen = running.switch.foresee();
        let look = self.work.standstills.next_poll();
        let mut latest = look.map_or(tick, |look| running.when(look).min(tick));
        if much {
            let soonest = running.switch.network().earliest_delivery(running.now());
            let soonest = foreseen.map_or(soonest, |first| soonest.min(first.at));
            latest = latest.min(self.looks.next(running.when(soonest)));
        }
        let Some(DeliveryBound { at, what }) = foreseen else {
            return Some(latest);
        };
        // What follows closely on a delivery is gathered, as network devices do before they interrupt.
        let gathered = running.delivered + GATHER;
        let wake = match what {
            // The next look is soon enough.
            Expected::Possible | Expected::Unlikely if much => return Some(latest),
            _ if at < gathered => gathered,
            Expected::Delivery if much => at - WAKING,
            Expected::Delivery | Expected::Possible => at - SPIN,
            Expected::Unlikely => at + GATHER,
        };
        Some(running.when(wake).min(latest))
    }

    /// Does what was ordered; `false` when that is to end.
    fn obey(&mut self) -> bool {
        let mut bytes = [0; 64];
        while (&self.woken).read(&mut bytes).is_ok_and(|read| read == bytes.len()) {}
        while let Ok(order) = self.orders.try_recv() {
            match order {
                Order::Stop => {
                    if let Some(running) = &mut self.running {
                        running.send_seen();
                        let now = running.now();
                        self.show(now, true);
                    }
                    return false;
                }
                Order::Set(setting) => {
                    if let Some(running) = &mut self.running {
                        let now = running.now();
                        running.switch.network_mut().set(now, &setting);
                    }
                }
                Order::Reply(call, reply) => {
                    if let Some(running) = &mut self.running {
                        let now = running.now();
                        running.switch.handle_reply(now, call, reply);
                    }
                }
                Order::Begin(beginning) => self.begin(*beginning),
            }
        }
        true
    }

    fn begin(&mut self, beginning: Beginning) {
        let Beginning {
            switch,
            zero,
            captures,
            calls,
        } = beginning;
        let mut running = Running {
            switch,
            zero,
            tick: Instant::ZERO,
            asks: Asks::new(Instant::ZERO, self.ports.len() - 1),
            delivered: Instant::from_nanos(i64::MIN / 2),
            drops_before: self.drops(),
            since: Monotonic::now(),
            cpu: ThreadId::current().time().unwrap_or_default(),
            machine: cpu::machine().unwrap_or_default(),
            slept: slept(),
            captures,
            calls,
        };
        if running.calls.is_some() {
            running.switch.take_calls();
        }
        if running.captures.is_some() {
            running.switch.tap();
            running.switch.network_mut().trace();
        }
        let now = running.now();
        tracing::info!(real_time = self.work.real_time, "packets are carried");
        running.switch.handle_timeout(now);
        // Ticks lie on whole tenths of seconds of the network's time.
        let tick = TICK.as_nanos() as i64;
        running.tick = Instant::from_nanos((now.as_nanos().div_euclid(tick) + 1) * tick);
        self.observer.begin(running.switch.network());
        self.running = Some(running);
    }

    /// Reads what a node's kernel has sent, as much as is wanted now; how many frames that were.
    fn read(&mut self, number: usize) -> io::Result<u32> {
        let port = &mut self.ports[number];
        let mut frames = 0;
        for _ in 0..TURN {
            if let (Some(running), Hold::Ring) = (&self.running, port.hold)
                && !running.switch.wants(port.end)
            {
                self.wait.pause(&port.device, number as u32)?;
                port.paused = true;
                break;
            }
            let taken = match port.device.read(&mut self.buffer) {
                Ok(taken) => taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    // A program has taken its own device away: that station is gone, and only that one.
                    tracing::debug!(%error, end = ?port.end, "a device can't be read any more");
                    self.wait.remove(&port.device)?;
                    let at = self.running.as_ref().map_or(Instant::ZERO, Running::now);
                    super::lock(&self.shown).lose(port.end, at, &error);
                    break;
                }
            };
            frames += 1;
            // Before there is a network nothing is carried.
            let Some(running) = &mut self.running else { continue };
            match taken {
                Taken::Packet(length) => {
                    let frame = &self.buffer[..length];
                    if frame.get(19) == Some(&253) && length == 30 {
                        running.switch.handle_nudge(port.end);
                        continue;
                    }
                    let now = running.now();
                    running.switch.handle_frame(now, port.end, frame);
                }
                Taken::Other(length) => running.switch.handle_refused(port.end, Refused::NotIp, length),
                Taken::Unreadable => running.switch.handle_refused(port.end, Refused::Malformed, 0),
            }
        }
        Ok(frames)
    }

    /// Reads from those again whose packets are wanted by now.
    fn resume(&mut self) -> io::Result<()> {
        let Some(running) = &self.running else { return Ok(()) };
        for (port, number) in self.ports.iter_mut().zip(0..) {
            if port.paused && running.switch.wants(port.end) {
                port.paused = false;
                self.wait.resume(&port.device, number)?;
            }
        }
        Ok(())
    }

    /// Lets time come to now, and delivers, grants, shows; whether anything was delivered or granted.
    fn carry(&mut self) -> io::Result<bool> {
        let Some(running) = &mut self.running else {
            return Ok(false);
        };
        let (now, mut done) = (running.now(), false);
        running.switch.handle_timeout(now);
        let zero = running.zero.as_nanos();
        while let Some(delivery) = running.switch.poll_delivery() {
            (running.delivered, done) = (now, true);
            let number = match delivery.to {
                Endpoint::Server => 0,
                Endpoint::Station(station) => usize::from(station) + 1,
            };
            let late = Monotonic::now().as_nanos() - zero - delivery.at.as_nanos();
            self.work
                .lateness
                .record(Duration::from_nanos(late.max(0).unsigned_abs()));
            match self.ports[number].device.write(delivery.frame) {
                Ok(()) => {}
                // The interface is down, or its program took it away: the packet is lost, as on any other such host.
                Err(error) => {
                    tracing::debug!(%error, to = ?delivery.to, "a frame can't be delivered");
                    self.work.write_errors += 1;
                }
            }
        }
        if let Some(calls) = &running.calls {
            while let Some(call) = running.switch.poll_call() {
                if calls.send(call).is_err() {
                    // Nobody replies any more.
                    running.switch.handle_reply(now, call, Reply::Refuse);
                }
            }
        }
        while let Some((station, bytes)) = running.switch.poll_grant() {
            let port = &mut self.ports[usize::from(station) + 1];
            if port.hold == Hold::Bucket {
                done = true;
                port.route.grant(port.index, bytes)?;
                // A queue that is full, or an interface that is down, has no use for it.
                let _ = raw::send(&port.raw, port.index, 0x0800, &nudge(port.end));
            }
        }
        if now >= running.tick {
            running.tick += TICK;
            if now > running.tick {
                let tick = TICK.as_nanos() as i64;
                running.tick = Instant::from_nanos((now.as_nanos().div_euclid(tick) + 1) * tick);
            }
            running.send_seen();
            let second = 1_000_000_000;
            let whole = now.as_nanos() / second != (now.as_nanos() - TICK.as_nanos() as i64) / second;
            self.show(now, whole);
        }
        self.follow(now);
        Ok(done)
    }

    /// Asks a station's kernel how fast its connections pace that send, where that is due.
    fn follow(&mut self, now: Instant) {
        let Some(running) = &mut self.running else { return };
        while let Some(station) = running.switch.poll_new_sender() {
            running.asks.handle_new_sender(now, station);
        }
        let Some(station) = running.asks.poll(now) else { return };
        let port = &mut self.ports[usize::from(station) + 1];
        let senders = running.switch.take_senders(station);
        let paces = port.diag.as_mut().map_or(Vec::new(), |diag| paces(diag, senders));
        running.switch.follow(now, station, &paces);
    }

    /// Shows what can be seen from outside; with `whole` also what takes longer to find out.
    fn show(&mut self, now: Instant, whole: bool) {
        let drops = whole.then(|| self.drops());
        let Some(running) = &mut self.running else { return };
        let mut rows = Vec::new();
        let stations = self.observer.look(now, running.switch.network_mut(), &mut rows);
        let span = Monotonic::now().saturating_since(running.since);
        let cpu = ThreadId::current()
            .time()
            .unwrap_or_default()
            .saturating_sub(running.cpu);
        if let Some(drops) = drops {
            self.work.ring_drops = drops.saturating_sub(running.drops_before);
            let machine = cpu::machine().unwrap_or_default().since(&running.machine);
            self.work.machine_busy = machine.busy_share();
            self.work.steal = machine.steal_share();
            self.work.suspended = slept().saturating_sub(running.slept);
        }
        self.work.cpu = cpu.as_nanos() as f64 / span.as_nanos().max(1) as f64;
        self.work.span = span;
        let counted = running.switch.counted().clone();
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.rows.extend(rows);
        if shown.rows.len() > KEPT_ROWS {
            let beyond = shown.rows.len() - KEPT_ROWS;
            shown.rows.drain(..beyond);
        }
        shown.counted = counted;
        shown.stations = stations;
        shown.now = Some(now);
        if whole || shown.health.lateness_count == 0 {
            shown.health = self.work.report();
        }
    }

    /// Packets that kernels dropped before we could read them.
    fn drops(&mut self) -> u64 {
        let each = self.ports.iter_mut().map(|port| {
            // What a token bucket drops is the sender's own overload, and told to it.
            let counted = port.route.counted(port.index);
            self.overrun += port.device.dropped();
            counted.map_or(0, |counted| counted.sent_dropped)
        });
        let dropped: u64 = each.sum();
        dropped + self.overrun
    }
}
