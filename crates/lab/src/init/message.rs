//! Messages between the lab and its helper.
//!
//! Each is JSON in one packet of a SOCK_SEQPACKET socket, with its file descriptors attached.

use crate::backpressure::{Backpressure, Probe};
use crate::device_kind::DeviceKind;
use crate::error::Requirement;
use crate::program::ProcessExit;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// Encodes a message.
pub(crate) fn encode(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have no maps with other keys than strings")
}

/// Decodes a message; `None` if the bytes are invalid.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    serde_json::from_slice(bytes).ok()
}

/// Request to the helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Create a node: a network namespace and a device.
    Node(NodeSpec),
    /// Use these lines as /etc/hosts.
    Names(String),
    /// Probe whether a full TUN device stops the qdisc.
    Probe,
    /// Run a program at a node. Standard input, output and error are attached.
    Run(ProcessSpec),
    /// Send a signal to a program: its number and the signal.
    Signal(u32, i32),
    /// Ping.
    Pulse,
    /// Query whether a process listens at a TCP port: the node and the port.
    Listens(u32, u16),
}

/// Specification of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeSpec {
    /// Name of the interface in the node.
    pub(crate) interface: String,
    /// IPv4 address.
    pub(crate) v4: Ipv4Addr,
    /// IPv6 address.
    pub(crate) v6: Ipv6Addr,
    /// Congestion control of the node's connections; `None` for the default of the namespace.
    pub(crate) control: Option<String>,
    /// Use of ECN (`tcp_ecn`): 0 never, 1 requested and accepted, 2 accepted.
    pub(crate) ecn: u32,
    /// Limit of TCP Small Queues in bytes (`tcp_limit_output_bytes`); `None` keeps the default.
    pub(crate) output_limit: Option<u32>,
    /// Backpressure mechanism.
    pub(crate) backpressure: Backpressure,
    /// Kind of the device.
    pub(crate) device: DeviceKind,
    /// True if the kernel may leave the segmentation of datagrams to the lab (USO).
    pub(crate) segments_udp: bool,
}

/// Specification of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessSpec {
    /// Number of the program in later messages.
    pub(crate) id: u32,
    /// Index of the node, in the order of creation.
    pub(crate) node: u32,
    /// True if the program gets its own process group.
    pub(crate) own_group: bool,
    /// Host name that the program sees.
    pub(crate) host_name: String,
    /// Soft limit of open files.
    pub(crate) open_files: u32,
    /// The program and its arguments.
    pub(crate) arguments: Vec<OsBytes>,
    /// Environment variables in addition to those of the helper.
    pub(crate) environment: Vec<(OsBytes, OsBytes)>,
}

/// Reply or event from the helper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The helper is isolated. Contains whether it runs in a user namespace, and notes about unavailable features.
    Hello(bool, Vec<String>),
    /// The node was created. Its device, network namespace, netlink socket and raw socket are attached.
    Node(NodeInfo),
    /// Result of the probe.
    Probed(Probe),
    /// The request succeeded.
    Done,
    /// The request failed: errno (0 if there is none), the feature that it needs, and the failed operation.
    Failed(i32, Requirement, String),
    /// The program with this number exited.
    Ended(u32, ProcessExit),
    /// A signal stopped a program.
    Stopped(u32),
    /// A signal continued a program.
    Continued(u32),
    /// Response to a ping.
    Pulse,
    /// True if a process listens at the port.
    Listens(bool),
}

/// Properties of a new node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeInfo {
    /// Interface index.
    pub(crate) index: u32,
    /// True if the kernel leaves the segmentation of datagrams to the lab.
    pub(crate) segments_udp: bool,
    /// Backpressure mechanism in use.
    pub(crate) backpressure: Backpressure,
    /// Notes about unavailable features.
    pub(crate) notes: Vec<String>,
}

/// Argument or environment variable: any bytes. In a message, each byte is one character of ISO 8859-1, because JSON has
/// no strings of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct OsBytes(OsString);

impl OsBytes {
    pub(crate) fn as_os_str(&self) -> &OsStr {
        &self.0
    }
}

impl From<&OsString> for OsBytes {
    fn from(text: &OsString) -> OsBytes {
        OsBytes(text.clone())
    }
}

impl From<OsBytes> for String {
    fn from(OsBytes(text): OsBytes) -> String {
        text.as_bytes().iter().copied().map(char::from).collect()
    }
}

impl TryFrom<String> for OsBytes {
    type Error = std::char::TryFromCharError;

    fn try_from(text: String) -> Result<OsBytes, Self::Error> {
        let bytes: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        Ok(OsBytes(OsString::from_vec(bytes?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_any_bytes_arrive_unchanged() {
        let arguments = [OsString::from("--name=Café"), OsString::from_vec((0..=255).collect())];
        let request = Request::Run(ProcessSpec {
            id: 7,
            node: 1,
            own_group: true,
            host_name: "tv".into(),
            open_files: 1024,
            arguments: arguments.iter().map(OsBytes::from).collect(),
            environment: vec![(OsBytes("A".into()), OsBytes("".into()))],
        });
        let bytes = encode(&request);
        assert_eq!(decode(&bytes), Some(request));
        assert_eq!(decode::<Request>(&bytes[..bytes.len() - 1]), None);
        assert_eq!(decode::<OsBytes>("\"€\"".as_bytes()), None, "not ISO 8859-1");
    }
}
