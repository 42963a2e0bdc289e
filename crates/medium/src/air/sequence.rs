//! Frame sequences as values (802.11-2020 annex G): [RTS, CTS or CTS-to-self,] data, acknowledgement, with SIFS between them.
//!
//! A step states who sends a frame, who has to hear it, its duration, and what follows silence.

use crate::aggregation::Aggregate;
use crate::edca::Timing;
use crate::phy::{TxVector, response};
use crate::queue::StationTid;
use netburn_units::{Duration, Instant};

/// A frame exchange in progress.
#[derive(Debug)]
pub(super) struct Exchange<P> {
    pub(super) category: usize,
    pub(super) txop_end: Instant,
    pub(super) sequence: FrameSequence,
    pub(super) payload: Payload<P>,
}

/// Most steps of a sequence: RTS, CTS, data, acknowledgement.
const MAX_STEPS: usize = 4;

/// The frames of an exchange in their order, and the current one.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameSequence {
    steps: [Step; MAX_STEPS],
    length: u8,
    current: u8,
    /// True if the initiator owns the medium before the data: since RTS and CTS, or since an earlier frame of a TXOP.
    pub(super) reserved: bool,
}

/// One frame of a sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) frame: FrameType,
    pub(super) sender: Party,
    pub(super) receivers: Receivers,
    pub(super) duration: Duration,
    /// NAV after its end.
    pub(super) nav: Duration,
    pub(super) silence: Silence,
}

/// Type of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameType {
    Rts,
    Cts,
    /// A CTS to its own sender, which only reserves the medium.
    CtsToSelf,
    Data,
    /// ACK or BlockAck.
    Response,
}

/// A node of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Party {
    /// The node that won the medium.
    Initiator,
    /// A receiver of the data, by its index.
    User(u8),
}

/// Receivers of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Receivers {
    One(Party),
    /// All users of the exchange.
    Users,
    /// All nodes that have a link from the sender.
    Group,
}

/// Successor of a frame that no receiver heard. If one heard it, the next step follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Silence {
    /// The next step.
    Proceed,
    /// The initiator waits for a response until its timeout, and the exchange ends.
    Timeout,
    /// The initiator notices that the frame is missing, and the exchange ends.
    Abort,
}

/// Frames ahead of the data.
#[derive(Debug, Clone, Copy)]
pub(super) enum Opening {
    /// None, after contention.
    Contention,
    /// None, after another frame of the TXOP.
    Txop,
    RtsCts(TxVector),
    CtsToSelf(TxVector),
}

/// Receivers of the data of an exchange, and what is sent to them.
#[derive(Debug)]
pub(super) enum Payload<P> {
    /// At least one station, each of which acknowledges its aggregate.
    Users { first: User<P>, others: Vec<User<P>> },
    /// A group-addressed frame, which has no acknowledgement.
    Group(Aggregate<P>),
}

/// A receiver of an exchange.
#[derive(Debug)]
pub(super) struct User<P> {
    pub(super) tin: StationTid,
    pub(super) aggregate: Aggregate<P>,
    /// Arrival of each MPDU, after the data; empty before them, and if the initiator misses the acknowledgement.
    pub(super) arrived: Vec<bool>,
}

impl<P> Exchange<P> {
    /// Its user; `None` for the initiator.
    pub(super) fn user(&self, party: Party) -> Option<&User<P>> {
        match party {
            Party::Initiator => None,
            Party::User(index) => self.payload.users().nth(usize::from(index)),
        }
    }

    /// Its user; `None` for the initiator.
    pub(super) fn user_mut(&mut self, party: Party) -> Option<&mut User<P>> {
        match party {
            Party::Initiator => None,
            Party::User(index) => self.payload.users_mut().nth(usize::from(index)),
        }
    }
}

impl FrameSequence {
    /// Sequence for a payload.
    #[inline]
    pub(super) fn new<P>(opening: Opening, payload: &Payload<P>, timing: &Timing) -> Self {
        let data = Step::data(payload);
        let mut sequence = FrameSequence {
            steps: [data; MAX_STEPS],
            length: 0,
            current: 0,
            reserved: matches!(opening, Opening::Txop | Opening::RtsCts(_)),
        };
        let control = |vector, bytes| response::duration(vector, bytes) * timing.clock;
        match &opening {
            Opening::Contention | Opening::Txop => {}
            Opening::RtsCts(vector) => {
                sequence.push(Step::rts(control(vector, response::RTS)));
                sequence.push(Step::cts(control(vector, response::CTS)));
            }
            Opening::CtsToSelf(vector) => sequence.push(Step::cts_to_self(control(vector, response::CTS))),
        }
        sequence.push(data);
        let mut users = payload.users().zip(0..).peekable();
        while let Some((user, index)) = users.next() {
            let silence = match users.peek() {
                Some(_) => Silence::Proceed,
                None => Silence::Abort,
            };
            sequence.push(Step::response(index, user.aggregate.response(), silence));
        }
        sequence.set_nav(timing.sifs);
        sequence
    }

    fn push(&mut self, step: Step) {
        self.steps[usize::from(self.length)] = step;
        self.length += 1;
    }

    /// Each frame reserves the medium up to the end of the sequence, except for RTS.
    fn set_nav(&mut self, sifs: Duration) {
        let mut rest = Duration::ZERO;
        for step in self.steps[..usize::from(self.length)].iter_mut().rev() {
            step.nav = rest;
            rest += sifs + step.duration;
        }
        // The NAV of RTS covers only the time up to the data, which other nodes hear themselves. So a missing CTS costs
        // nothing more (clause 10.3.2.4 permits resetting the NAV).
        if let [rts, cts, ..] = &mut self.steps[..usize::from(self.length)]
            && rts.frame == FrameType::Rts
        {
            rts.nav = sifs * 2 + cts.duration;
        }
    }

    /// The frame that is on the air, or the next one between two frames.
    pub(super) fn step(&self) -> &Step {
        &self.steps[usize::from(self.current)]
    }

    /// Goes on to the next step. Returns false after the last one.
    pub(super) fn advance(&mut self) -> bool {
        let more = self.current + 1 < self.length;
        self.current += u8::from(more);
        more
    }

    /// Returns true if the data were sent: the exchange didn't end with RTS.
    pub(super) fn has_sent_data(&self) -> bool {
        self.steps[..=usize::from(self.current)]
            .iter()
            .any(|step| step.frame == FrameType::Data)
    }
}

impl Step {
    fn rts(duration: Duration) -> Self {
        Step::from_initiator(
            FrameType::Rts,
            Receivers::One(Party::User(0)),
            duration,
            Silence::Timeout,
        )
    }

    fn cts(duration: Duration) -> Self {
        Step::from_user(FrameType::Cts, 0, duration, Silence::Abort)
    }

    /// Its sender doesn't know whether it collided.
    fn cts_to_self(duration: Duration) -> Self {
        let receivers = Receivers::One(Party::Initiator);
        Step::from_initiator(FrameType::CtsToSelf, receivers, duration, Silence::Proceed)
    }

    fn data<P>(payload: &Payload<P>) -> Self {
        let (receivers, silence) = match payload {
            Payload::Users { .. } => (Receivers::Users, Silence::Timeout),
            Payload::Group(_) => (Receivers::Group, Silence::Proceed),
        };
        Step::from_initiator(FrameType::Data, receivers, payload.duration(), silence)
    }

    fn response(user: u8, duration: Duration, silence: Silence) -> Self {
        Step::from_user(FrameType::Response, user, duration, silence)
    }

    fn from_initiator(frame: FrameType, receivers: Receivers, duration: Duration, silence: Silence) -> Self {
        Step {
            frame,
            sender: Party::Initiator,
            receivers,
            duration,
            nav: Duration::ZERO,
            silence,
        }
    }

    fn from_user(frame: FrameType, user: u8, duration: Duration, silence: Silence) -> Self {
        Step {
            frame,
            sender: Party::User(user),
            receivers: Receivers::One(Party::Initiator),
            duration,
            nav: Duration::ZERO,
            silence,
        }
    }
}

impl<P> Payload<P> {
    pub(super) fn users(&self) -> impl Iterator<Item = &User<P>> {
        let (first, others) = match self {
            Payload::Users { first, others } => (Some(first), &others[..]),
            Payload::Group(_) => (None, &[][..]),
        };
        first.into_iter().chain(others)
    }

    pub(super) fn users_mut(&mut self) -> impl Iterator<Item = &mut User<P>> {
        let (first, others) = match self {
            Payload::Users { first, others } => (Some(first), &mut others[..]),
            Payload::Group(_) => (None, &mut [][..]),
        };
        first.into_iter().chain(others)
    }

    pub(super) fn aggregates(&self) -> impl Iterator<Item = &Aggregate<P>> {
        let (first, others) = match self {
            Payload::Users { first, others } => (&first.aggregate, &others[..]),
            Payload::Group(aggregate) => (aggregate, &[][..]),
        };
        std::iter::once(first).chain(others.iter().map(|user| &user.aggregate))
    }

    /// Counts a transmission of each MPDU.
    pub(super) fn count_try(&mut self) {
        for user in self.users_mut() {
            for mpdu in &mut user.aggregate.mpdus {
                mpdu.tries += 1;
            }
        }
    }

    /// Duration of the PPDU.
    pub(super) fn duration(&self) -> Duration {
        self.aggregates()
            .map(|aggregate| aggregate.duration)
            .max()
            .unwrap_or_default()
    }

    /// Number of MPDUs.
    pub(super) fn mpdus(&self) -> usize {
        self.aggregates().map(|aggregate| aggregate.mpdus.len()).sum()
    }
}

impl<P> User<P> {
    /// Returns true if an MPDU arrived, and the initiator didn't miss the acknowledgement.
    pub(super) fn has_received(&self) -> bool {
        self.arrived.contains(&true)
    }
}
