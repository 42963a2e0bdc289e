//! Fuzz checks.

use super::anonymizer::Anonymizer;
use super::{decode, recording};
use crate::wifi::Station;

/// Decodes any bytes as a datagram and, if they are text, as a recording.
///
/// # Panics
/// When the anonymised datagram differs in more than names and addresses, or a recording does not survive encoding.
pub fn check(bytes: &[u8]) {
    let (interfaces, stations) = (decode::interfaces(bytes), decode::stations(bytes));
    let (surveys, events) = (decode::surveys(bytes), decode::events(bytes));
    let mut anonymous = Anonymizer::default();
    let hidden = anonymous.datagram(bytes);
    let without = |stations: Vec<Station>| {
        let without = |station| Station { mac: None, ..station };
        stations.into_iter().map(without).collect::<Vec<_>>()
    };
    assert_eq!(decode::surveys(&hidden), surveys, "surveys hold no names");
    assert_eq!(
        without(decode::stations(&hidden)),
        without(stations),
        "nor do stations but for their addresses"
    );
    assert_eq!(decode::interfaces(&hidden).len(), interfaces.len());
    assert_eq!(decode::events(&hidden).len(), events.len());
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(entries) = recording::read(text)
    {
        let lines: String = entries.iter().map(recording::Entry::line).collect();
        assert_eq!(recording::read(&(recording::heading() + &lines)), Ok(entries));
    }
}
