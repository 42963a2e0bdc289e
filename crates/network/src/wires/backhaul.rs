//! Wired path of the Wi-Fi stations: the server's hop, and each access point's WAN link with its queue
//! disciplines and shapers, and forwarding.

use crate::hop::{Hop, HopConfig, HopEvent};
use crate::layout::Layout;
use crate::line::pacer::Pacer;
use crate::line::policer::Policer;
use crate::output::{NetPacket, Payload};
use netburn_scenario::Plan;
use netburn_units::{BitRate, Instant, earlier};

/// Identifies a hop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum HopId {
    /// From the server.
    LinkDown,
    /// To the server.
    LinkUp,
    /// WAN link towards an access point.
    WanDown(u16),
    /// WAN link away from it.
    WanUp(u16),
    /// Forwarding by the access point, both directions together.
    Forwarding(u16),
    /// Shaper after the WAN link towards an access point.
    ShaperDown(u16),
    /// Shaper before the WAN link away from it.
    ShaperUp(u16),
}

/// Index of the hop from the server.
const LINK_DOWN: usize = 0;

/// All hops.
#[derive(Debug)]
pub(crate) struct Backhaul<P> {
    /// In the order of [`HopId`], without shapers.
    hops: Vec<Hop<NetPacket<P>>>,
    /// By hop: its queue discipline, if it is not the hop's FIFO.
    disciplines: Vec<Option<Box<Pacer<P>>>>,
    /// By hop: its policer. That of a WAN link is at the provider: before the link downlink, after it uplink.
    policers: Vec<Option<Policer>>,
    /// Shapers, in the order of [`HopId`]; their places follow those of the hops.
    shapers: Vec<(HopId, Pacer<P>)>,
    /// By hop: true if packets pass without any delay.
    passes: Vec<bool>,
    /// Time of the next event of the link from the server, or [`Instant::MAX`]. It has most events, so it takes no part in
    /// the tournament.
    from_server_due: Instant,
    /// The same for each other hop and shaper; a power of two.
    dues: Vec<Instant>,
    /// A tournament: entry i is the earlier one of entries 2i and 2i + 1, the lower one of two
    /// equal. The second half has the hops themselves.
    earliest: Vec<usize>,
    aps: usize,
}

impl<P: Payload> Backhaul<P> {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Self {
        let aps = layout.paths.len();
        let hop = |id: HopId| {
            let (config, cause, index) = match id {
                HopId::LinkDown => (layout.link, "link-down", 0),
                HopId::LinkUp => (
                    layout.link.with_interrupt_interval(plan.server.interrupt_interval),
                    "link-up",
                    0,
                ),
                HopId::WanDown(ap) => (layout.paths[usize::from(ap)].wan_down, "wan-down", ap),
                HopId::WanUp(ap) => (layout.paths[usize::from(ap)].wan_up, "wan-up", ap),
                HopId::Forwarding(ap) => (layout.paths[usize::from(ap)].forwarding, "forwarding", ap),
                HopId::ShaperDown(_) | HopId::ShaperUp(_) => unreachable!("shapers are no hops"),
            };
            Hop::new(config, plan.seed.stream(cause, u64::from(index)))
        };
        let mut hops: Vec<_> = (0..2 + 3 * aps).map(|place| hop(hop_id(place, aps))).collect();
        let mut policers: Vec<_> = hops.iter().map(|_| None).collect();
        let mut disciplines: Vec<_> = hops.iter().map(|_| None).collect();
        let mut shapers = Vec::new();
        for (path, ap) in layout.paths.iter().zip(0_u16..) {
            let links = [HopId::WanDown(ap), HopId::WanUp(ap)].map(|link| place(link, aps));
            for (link, service) in links.into_iter().zip([&path.service_down, &path.service_up]) {
                service
                    .iter()
                    .for_each(|service| hops[link].set_service(service.clone()));
            }
            for (link, policer) in links.into_iter().zip(&path.policers) {
                policers[link].clone_from(policer);
            }
            let ways = [
                (path.queue_down, HopId::WanDown(ap), HopId::ShaperDown(ap), "cake-down"),
                (path.queue_up, HopId::WanUp(ap), HopId::ShaperUp(ap), "cake-up"),
            ];
            for (config, link, shaper, cause) in ways {
                let Some(config) = config else { continue };
                let pacer = Pacer::new(&config, plan.seed.stream(cause, u64::from(ap)));
                if config.shaper.is_some() {
                    shapers.push((shaper, pacer));
                } else {
                    disciplines[place(link, aps)] = Some(Box::new(pacer));
                    hops[place(link, aps)].report_idle();
                }
            }
        }
        shapers.sort_by_key(|(id, _)| *id);
        let size = (hops.len() + shapers.len()).next_power_of_two();
        let mut backhaul = Backhaul {
            from_server_due: Instant::MAX,
            dues: vec![Instant::MAX; size],
            earliest: tournament(size),
            passes: vec![false; hops.len()],
            hops,
            disciplines,
            policers,
            shapers,
            aps,
        };
        backhaul.hops[LINK_DOWN].report_sent(true);
        (0..backhaul.hops.len()).for_each(|place| backhaul.update_timeout(place));
        backhaul
    }

    /// Returns true if the access point has this shaper. Hops always exist.
    pub(crate) fn has(&self, hop: HopId) -> bool {
        !matches!(hop, HopId::ShaperDown(_) | HopId::ShaperUp(_)) || self.shaper(hop).is_some()
    }

    /// Returns true if packets pass without any delay.
    #[inline]
    pub(crate) fn is_passthrough(&self, hop: HopId) -> bool {
        !matches!(hop, HopId::ShaperDown(_) | HopId::ShaperUp(_)) && self.passes[place(hop, self.aps)]
    }

    /// Returns true if packets pass the line to an access point, and its forwarding, without any delay.
    #[inline]
    pub(crate) fn is_passthrough_to(&self, ap: u16) -> bool {
        self.is_passthrough(HopId::WanDown(ap))
            && self.is_passthrough(HopId::Forwarding(ap))
            && (self.shapers.is_empty() || !self.has(HopId::ShaperDown(ap)))
    }

    /// Sets the rate of a WAN link for its queue discipline.
    pub(crate) fn set_link_rate(&mut self, hop: HopId, rate: BitRate) {
        let place = self.place(hop);
        if let Some(discipline) = self.disciplines.get_mut(place).and_then(Option::as_mut) {
            discipline.set_link_rate(rate);
        }
    }

    /// Changes the settings of a hop, which is not a shaper.
    pub(crate) fn set_hop(&mut self, now: Instant, hop: HopId, change: impl FnOnce(&mut HopConfig)) {
        let place = place(hop, self.aps);
        let hop = &mut self.hops[place];
        let mut config = hop.config();
        change(&mut config);
        hop.set_config(now, config);
        self.update_timeout(place);
    }

    /// Bytes of room in the queue from the server.
    #[inline]
    pub(crate) fn room_from_server(&mut self, now: Instant) -> u64 {
        let link = &mut self.hops[LINK_DOWN];
        let backlog = link.backlog(now);
        link.config().queue.as_bytes().saturating_sub(backlog)
    }

    /// Disables the events of packets that leave the server.
    pub(crate) fn report_nothing_sent(&mut self) {
        self.hops[LINK_DOWN].report_sent(false);
        self.update_timeout(LINK_DOWN);
    }

    /// Packets that have not left the server at `now`, in order, each with the time at which it will.
    pub(crate) fn planned_from_server(&self, now: Instant) -> Vec<(Instant, &NetPacket<P>)> {
        self.hops[LINK_DOWN].planned(now)
    }

    /// Offers a packet to the link from the server. Returns the time at which it will have left the server.
    ///
    /// # Errors
    /// Returns the packet if the queue is full.
    #[inline]
    pub(crate) fn send_from_server(&mut self, now: Instant, packet: NetPacket<P>) -> Result<Instant, NetPacket<P>> {
        let link = &mut self.hops[LINK_DOWN];
        let sent = link.handle_packet(now, packet.length, packet)?;
        self.from_server_due = link.poll_timeout().unwrap_or(Instant::MAX);
        Ok(sent)
    }

    /// Offers a packet to a hop. Returns it if the hop's queue is full.
    pub(crate) fn handle_packet(&mut self, now: Instant, hop: HopId, packet: NetPacket<P>) -> Result<(), NetPacket<P>> {
        if let HopId::ShaperDown(_) | HopId::ShaperUp(_) = hop {
            let place = self.place(hop);
            self.shapers[place - self.hops.len()].1.handle_packet(now, packet);
            self.update_timeout(place);
            return Ok(());
        }
        let place = place(hop, self.aps);
        if let (HopId::WanDown(_), Some(policer)) = (hop, &mut self.policers[place])
            && !policer.passes(now, packet.length)
        {
            return Err(packet);
        }
        let hop = &mut self.hops[place];
        let taken = match &mut self.disciplines[place] {
            Some(discipline) => {
                discipline.handle_packet(now, packet);
                feed(now, discipline, hop);
                Ok(())
            }
            None => hop.handle_packet(now, packet.length, packet).map(drop),
        };
        self.update_hop(place);
        taken
    }

    /// Time of the next event.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        Some(self.next().0).filter(|due| *due < Instant::MAX)
    }

    /// Each hop and shaper with pending packets, with the lower bound of its next delivery.
    pub(crate) fn next_deliveries(&self) -> impl Iterator<Item = (HopId, Instant)> {
        let hops = self.hops.iter().enumerate();
        let hops = hops.filter_map(|(place, hop)| Some((hop_id(place, self.aps), hop.next_delivery()?)));
        let shapers = self.shapers.iter();
        hops.chain(shapers.filter_map(|(id, shaper)| Some((*id, shaper.poll_timeout()?))))
    }

    /// Next event of the link from the server by `until`, if it is the next event of all hops.
    #[inline]
    pub(crate) fn poll_from_server(&mut self, until: Instant) -> Option<(Instant, HopEvent<NetPacket<P>>)> {
        let (due, place) = self.next();
        if place != LINK_DOWN || due > until || due == Instant::MAX {
            return None;
        }
        let link = &mut self.hops[LINK_DOWN];
        let event = link.poll_event(due)?;
        self.from_server_due = link.poll_timeout().unwrap_or(Instant::MAX);
        Some(event)
    }

    /// Next event of a hop by `now`: a packet arrived, was lost, or (from the server) left its
    /// host.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<(HopId, Instant, HopEvent<NetPacket<P>>)> {
        loop {
            let (at, place) = self.next();
            if at > now || at == Instant::MAX {
                return None;
            }
            let id = self.id(place);
            if let Some((at, event)) = self.poll_place(at, place) {
                return Some((id, at, self.police_up(at, id, event)));
            }
        }
    }

    /// The same for one hop or shaper whose event is due at `at`.
    #[inline]
    fn poll_place(&mut self, at: Instant, place: usize) -> Option<(Instant, HopEvent<NetPacket<P>>)> {
        if let Some((_, shaper)) = self.shapers.get_mut(place.wrapping_sub(self.hops.len())) {
            shaper.handle_timeout(at);
            let event = shaper.poll_event();
            self.update_timeout(place);
            return event;
        }
        let hop = &mut self.hops[place];
        hop.handle_timeout(at);
        let event = match &mut self.disciplines[place] {
            None => hop.poll_event(at),
            Some(discipline) => {
                feed(at, discipline, hop);
                discipline.poll_event().or_else(|| hop.poll_event(at))
            }
        };
        self.update_hop(place);
        event
    }

    /// The hop or shaper at a place.
    #[inline]
    fn id(&self, place: usize) -> HopId {
        match self.shapers.get(place.wrapping_sub(self.hops.len())) {
            Some((id, _)) => *id,
            None => hop_id(place, self.aps),
        }
    }

    /// Applies the policer after a WAN link uplink.
    fn police_up(&mut self, at: Instant, id: HopId, event: HopEvent<NetPacket<P>>) -> HopEvent<NetPacket<P>> {
        let HopId::WanUp(ap) = id else { return event };
        let policer = &mut self.policers[place(HopId::WanUp(ap), self.aps)];
        let (HopEvent::Arrived(packet), Some(policer)) = (&event, policer) else {
            return event;
        };
        let passes = policer.passes(at, packet.length);
        match event {
            HopEvent::Arrived(packet) if !passes => HopEvent::Dropped(packet),
            event => event,
        }
    }

    /// Updates the timeout of a hop or shaper after an event.
    fn update_timeout(&mut self, place: usize) {
        match self.shapers.get(place.wrapping_sub(self.hops.len())) {
            Some((_, shaper)) => self.set_due(place, shaper.poll_timeout()),
            None => self.update_hop(place),
        }
    }

    /// Updates the timeout of a hop after an event.
    #[inline]
    fn update_hop(&mut self, place: usize) {
        let hop = &self.hops[place];
        self.passes[place] = hop.is_passthrough() && self.policers[place].is_none();
        let dropped = self.disciplines[place].as_ref().and_then(|queue| queue.poll_timeout());
        self.set_due(place, earlier(hop.poll_timeout(), dropped));
    }

    /// Time and place of the next event; of two at one time, the lower place.
    #[inline]
    fn next(&self) -> (Instant, usize) {
        let place = self.earliest[1];
        if self.from_server_due <= self.dues[place] {
            (self.from_server_due, LINK_DOWN)
        } else {
            (self.dues[place], place)
        }
    }

    #[inline]
    fn set_due(&mut self, place: usize, due: Option<Instant>) {
        let due = due.unwrap_or(Instant::MAX);
        if place == LINK_DOWN {
            self.from_server_due = due;
            return;
        }
        if self.dues[place] == due {
            return;
        }
        self.dues[place] = due;
        let mut at = (self.dues.len() + place) / 2;
        while at > 0 {
            let (low, high) = (self.earliest[2 * at], self.earliest[2 * at + 1]);
            let winner = if self.dues[high] < self.dues[low] { high } else { low };
            // Above a match with the same winner and the same time nothing changes.
            if self.earliest[at] == winner && winner != place {
                return;
            }
            self.earliest[at] = winner;
            at /= 2;
        }
    }

    /// Index of a shaper, if the access point has it.
    fn shaper(&self, hop: HopId) -> Option<usize> {
        self.shapers.binary_search_by_key(&hop, |(id, _)| *id).ok()
    }

    fn place(&self, hop: HopId) -> usize {
        match hop {
            HopId::ShaperDown(_) | HopId::ShaperUp(_) => {
                self.hops.len() + self.shaper(hop).expect("the access point has this shaper")
            }
            _ => place(hop, self.aps),
        }
    }
}

/// Moves packets from a discipline to its link while the link is idle.
fn feed<P: Payload>(now: Instant, discipline: &mut Pacer<P>, link: &mut Hop<NetPacket<P>>) {
    while link.is_idle(now) {
        let Some(packet) = discipline.dequeue(now) else { return };
        if link.handle_packet(now, packet.length, packet).is_err() {
            unreachable!("an idle hop accepts a packet");
        }
    }
}

/// Index of a hop, for this number of access points.
#[inline]
fn place(hop: HopId, aps: usize) -> usize {
    match hop {
        HopId::LinkDown => LINK_DOWN,
        HopId::LinkUp => 1,
        HopId::WanDown(ap) => 2 + usize::from(ap),
        HopId::WanUp(ap) => 2 + aps + usize::from(ap),
        HopId::Forwarding(ap) => 2 + 2 * aps + usize::from(ap),
        HopId::ShaperDown(_) | HopId::ShaperUp(_) => unreachable!("shapers are no hops"),
    }
}

/// Tournament of equals.
fn tournament(size: usize) -> Vec<usize> {
    let lowest = |at: usize| (at << (size.ilog2() - at.ilog2())) - size;
    (0..2 * size).map(|at| if at == 0 { 0 } else { lowest(at) }).collect()
}

/// Hop of an index, for this number of access points.
#[inline]
fn hop_id(place: usize, aps: usize) -> HopId {
    let ap = |first: usize| (place - first) as u16;
    match place {
        LINK_DOWN => HopId::LinkDown,
        1 => HopId::LinkUp,
        _ if place < 2 + aps => HopId::WanDown(ap(2)),
        _ if place < 2 + 2 * aps => HopId::WanUp(ap(2 + aps)),
        _ => HopId::Forwarding(ap(2 + 2 * aps)),
    }
}
