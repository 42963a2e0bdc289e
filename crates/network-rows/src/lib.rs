//! Rows of the record from the state of a modelled network. The simulator and the lab run the same
//! network, and record it in the same form.

mod observer;

pub use observer::Observer;

use netburn_network::{AppliedChange, ClientEvent, ClientEventKind, LinkStats, MeshEvent, StationDelta};
use netburn_record::row::Bssid;
use netburn_record::{AirRow, Detail, EventKind, EventRow, LinkChange, LinkEvent, LinkRow, Row};
use netburn_units::Instant;

/// Row about changes at run time.
fn change_row(changed: &AppliedChange) -> Row {
    let settings: Vec<String> = changed.settings.iter().map(ToString::to_string).collect();
    Row::Event(EventRow {
        station: None,
        workload: None,
        at: changed.at,
        length: 0,
        kind: EventKind::Change,
        detail: settings.join(", ").into(),
    })
}

/// Row about an event of a station's client: a scan, a roam, a failed attempt to join, or a decision of
/// its access points.
fn client_row(event: &ClientEvent) -> Row {
    Row::Event(EventRow {
        station: Some(event.station),
        workload: None,
        at: event.at,
        length: event.length.as_nanos(),
        kind: match event.kind {
            ClientEventKind::Roamed { .. } => EventKind::Roam,
            ClientEventKind::Scanned { .. } => EventKind::Scan,
            ClientEventKind::Asked { .. }
            | ClientEventKind::Answered { .. }
            | ClientEventKind::Disassociated { .. } => EventKind::Steering,
            ClientEventKind::Reconnected { .. }
            | ClientEventKind::JoinFailed { .. }
            | ClientEventKind::LinkLost { .. } => EventKind::Warning,
        },
        detail: client_detail(event),
    })
}

/// Typed data of an event of a station's client.
fn client_detail(event: &ClientEvent) -> Detail {
    let change = match event.kind.clone() {
        ClientEventKind::Roamed { from, to } => LinkChange::Roamed {
            from: Some(from),
            to: Some(to),
        },
        ClientEventKind::Reconnected { to } => LinkChange::Reconnected { to: Some(to) },
        ClientEventKind::JoinFailed { to } => LinkChange::JoinFailed { to: Some(to) },
        ClientEventKind::LinkLost { from } => LinkChange::Disconnected { from: Some(from) },
        ClientEventKind::Scanned { away } => LinkChange::Scanned {
            away: Some(away.as_nanos()),
        },
        ClientEventKind::Asked { to, reason } => LinkChange::TransitionRequested {
            to: Some(to),
            reason: reason.to_string(),
        },
        ClientEventKind::Answered { accepted } => LinkChange::TransitionAnswered { accepted },
        ClientEventKind::Disassociated { from } => LinkChange::Disassociated { from: Some(from) },
    };
    let text = event.to_string();
    LinkEvent { change, text }.into()
}

/// Row about an event of a mesh; `None` for the end of an unused path and its renewal, which change
/// nothing.
fn mesh_row(event: &MeshEvent) -> Option<Row> {
    let row = EventRow {
        station: None,
        workload: None,
        at: event.at,
        length: 0,
        kind: EventKind::Path,
        detail: event.to_string().into(),
    };
    (!event.is_routine()).then_some(Row::Event(row))
}

/// Row about a station's use of the air since `began`.
fn air_row(station: u16, began: Instant, gain: &StationDelta) -> Row {
    Row::Air(AirRow {
        station,
        at: began,
        airtime_down: gain.airtime_down,
        airtime_up: gain.airtime_up,
        transmissions: gain.transmissions,
        mpdus: gain.mpdus,
        retries: gain.retries,
        backlog: gain.backlog,
        drops: gain.drops,
        marks: gain.marks,
        others: gain.others,
    })
}

/// Row about a station's link at `now`.
fn link_row(station: u16, now: Instant, link: &LinkStats) -> Row {
    Row::Link(LinkRow {
        station,
        at: now,
        signal: link.signal.map(|signal| signal.as_hundredths()),
        rx_rate_bps: Some(link.rate_down.as_bps()),
        tx_rate_bps: Some(link.rate_up.as_bps()),
        frequency_mhz: link.radio.map(|radio| radio.frequency_mhz),
        bssid: link.radio.map(|radio| bssid(radio.number)),
        ..LinkRow::default()
    })
}

/// Address of a modelled radio: locally administered, with its number (802.11-2020 9.2.4.3).
fn bssid(radio: usize) -> Bssid {
    let [high, low] = (radio as u16).to_be_bytes();
    Bssid([0x02, 0, 0, 0, high, low])
}

#[cfg(test)]
mod tests {
    use super::*;
    use netburn_network::{MeshEventKind, SteeringReason};
    use netburn_units::Duration;

    fn kind_of(kind: ClientEventKind) -> EventKind {
        let event = ClientEvent {
            station: 3,
            at: Instant::ZERO,
            length: Duration::from_millis(66),
            kind,
        };
        let Row::Event(row) = client_row(&event) else {
            panic!("no event");
        };
        let Detail::Link(detail) = &row.detail else {
            panic!("no typed data");
        };
        assert_eq!(detail.text, event.to_string());
        assert_eq!((row.station, row.length), (Some(3), 66_000_000));
        row.kind
    }

    /// The record's documentation names these kinds. Only a change of the radio is a roam.
    #[test]
    fn kinds_of_client_events() {
        let (from, to) = ("hall.5g".to_owned(), "attic.5g".to_owned());
        let roamed = ClientEventKind::Roamed { from, to: to.clone() };
        assert_eq!(kind_of(roamed), EventKind::Roam);
        let away = Duration::from_millis(60);
        assert_eq!(kind_of(ClientEventKind::Scanned { away }), EventKind::Scan);
        let reconnected = ClientEventKind::Reconnected { to: to.clone() };
        assert_eq!(kind_of(reconnected), EventKind::Warning);
        let reason = SteeringReason::WeakSignal(-75);
        let asked = ClientEventKind::Asked { to: to.clone(), reason };
        assert_eq!(kind_of(asked), EventKind::Steering);
        assert_eq!(
            kind_of(ClientEventKind::Answered { accepted: false }),
            EventKind::Steering
        );
        assert_eq!(
            kind_of(ClientEventKind::LinkLost { from: to.clone() }),
            EventKind::Warning
        );
        assert_eq!(kind_of(ClientEventKind::JoinFailed { to }), EventKind::Warning);
    }

    /// A path that is found is an event. Its renewal is not.
    #[test]
    fn events_of_a_mesh() {
        let next = "two".to_owned();
        let row = |kind| {
            mesh_row(&MeshEvent {
                at: Instant::from_secs(2),
                mesh: "house".to_owned(),
                ap: "one".to_owned(),
                to: "three".to_owned(),
                kind,
            })
        };
        let found = row(MeshEventKind::Found {
            next: next.clone(),
            metric: 300,
        });
        let Some(Row::Event(found)) = found else {
            panic!("no event");
        };
        assert_eq!(
            (found.station, found.kind, found.at),
            (None, EventKind::Path, Instant::from_secs(2))
        );
        assert_eq!(found.detail.text(), "one found a path to three: next two, metric 300");
        assert_eq!(row(MeshEventKind::Renewed { next, metric: 300 }), None);
    }
}
