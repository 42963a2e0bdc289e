//! Removal of names and addresses from messages, so that recordings can be shared.

use super::attribute::Attributes;
use super::format::attr;
use super::message::{HEADERS, Messages};
use crate::wifi::Mac;

/// Replaces addresses and names, always with the same substitutes: `02:00:00:00:00:01`, `network-1`. Attributes that
/// may contain other addresses or names are removed, including the frames in events.
#[derive(Debug, Clone, Default)]
pub struct Anonymizer {
    addresses: Vec<Mac>,
    networks: Vec<Vec<u8>>,
    interfaces: Vec<Vec<u8>>,
}

/// Length from which the name of an interface can have an address in it: `wlx9c3dcf010203`.
const LONG_NAME: usize = 12;

/// Content of an attribute.
enum Holds {
    Numbers,
    Address,
    Network,
    Interface,
    Links,
    Unknown,
}

impl Anonymizer {
    /// Rewrites the messages of a datagram.
    #[must_use]
    pub fn datagram(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut all = Vec::with_capacity(datagram.len());
        for message in Messages(datagram) {
            let start = all.len();
            if message.command().is_some() && message.whole.len() >= HEADERS {
                all.extend_from_slice(&message.whole[..HEADERS]);
                self.attributes(message.attributes(), &mut all);
            } else {
                // A control message of the kernel; an error repeats the request, which contains nothing private.
                all.extend_from_slice(&message.whole[..message.whole.len().min(HEADERS)]);
            }
            let length = (all.len() - start) as u32;
            all[start..start + 4].copy_from_slice(&length.to_ne_bytes());
            all.resize(all.len().next_multiple_of(4), 0);
        }
        all
    }

    fn attributes(&mut self, from: Attributes<'_>, to: &mut Vec<u8>) {
        for one in from {
            let start = to.len();
            to.extend([0; 2]);
            to.extend(one.kind.to_ne_bytes());
            match holds(one.kind) {
                Holds::Numbers => to.extend_from_slice(one.value),
                Holds::Address => match <[u8; 6]>::try_from(one.value) {
                    Ok(address) => to.extend(self.address(Mac(address)).0),
                    Err(_) => to.extend([0; 6]),
                },
                Holds::Network => {
                    let number = place(&mut self.networks, one.value);
                    to.extend(format!("network-{number}").bytes());
                }
                Holds::Interface => {
                    let name = one.value.strip_suffix(&[0]).unwrap_or(one.value);
                    to.extend(self.interface_bytes(name));
                    to.push(0);
                }
                // A list: the types of its elements are indices.
                Holds::Links => {
                    for link in Attributes(one.value) {
                        let inner = to.len();
                        to.extend([0; 2]);
                        to.extend(link.kind.to_ne_bytes());
                        self.attributes(Attributes(link.value), to);
                        close(inner, to);
                    }
                }
                Holds::Unknown => {
                    to.truncate(start);
                    continue;
                }
            }
            close(start, to);
        }
    }

    /// Substitute of the name of an interface. Short names remain. Some systems name USB adapters after their address.
    pub fn interface(&mut self, name: &str) -> String {
        String::from_utf8_lossy(&self.interface_bytes(name.as_bytes())).into_owned()
    }

    fn interface_bytes(&mut self, name: &[u8]) -> Vec<u8> {
        if name.len() < LONG_NAME {
            return name.to_vec();
        }
        let number = place(&mut self.interfaces, name);
        format!("wlan-{number}").into_bytes()
    }

    /// Substitute of an address.
    pub fn address(&mut self, address: Mac) -> Mac {
        let number = place(&mut self.addresses, &address) as u32;
        let [a, b, c, d] = number.to_be_bytes();
        Mac([2, 0, a, b, c, d])
    }
}

/// Ends an attribute that began at `start`.
fn close(start: usize, to: &mut Vec<u8>) {
    let length = u16::try_from(to.len() - start).unwrap_or(u16::MAX);
    to[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    to.resize(to.len().next_multiple_of(4), 0);
}

/// Returns the index of `item` among those seen so far, from 1.
fn place<T: PartialEq + ToOwned<Owned = O> + ?Sized, O: PartialEq + std::borrow::Borrow<T>>(
    met: &mut Vec<O>,
    item: &T,
) -> usize {
    match met.iter().position(|one| one.borrow() == item) {
        Some(place) => place + 1,
        None => {
            met.push(item.to_owned());
            met.len()
        }
    }
}

fn holds(kind: u16) -> Holds {
    match kind {
        attr::MAC | attr::MLD_ADDR => Holds::Address,
        attr::SSID => Holds::Network,
        attr::IFNAME => Holds::Interface,
        attr::MLO_LINKS => Holds::Links,
        attr::WIPHY
        | attr::IFINDEX
        | attr::IFTYPE
        | attr::STA_INFO
        | attr::WIPHY_FREQ
        | attr::GENERATION
        | attr::REASON_CODE
        | attr::TIMED_OUT
        | attr::DISCONNECTED_BY_AP
        | attr::STATUS_CODE
        | attr::SURVEY_INFO
        | attr::CHANNEL_WIDTH
        | attr::CENTER_FREQ1
        | attr::CENTER_FREQ2
        | attr::MLO_LINK_ID => Holds::Numbers,
        _ => Holds::Unknown,
    }
}
