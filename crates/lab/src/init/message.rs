//! Messages between the lab and its helper.
//!
//! A message is a byte for its kind, followed by numbers (4 bytes in native byte order) and strings (preceded by
//! their length). Each is one packet of a SOCK_SEQPACKET socket, with its file descriptors attached.

use crate::backpressure::{Backpressure, Probe};
use crate::error::Requirement;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Request to the helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Create a node: a network namespace and a device.
    Node(NodeSpec),
    /// Use these lines as /etc/hosts.
    Names(String),
    /// Probe whether a full TUN device stops the qdisc.
    Probe,
    /// Run a program at a node. Standard input, output and error are attached.
    Run(ProcessSpec),
    /// Send a signal to a program: its number and the signal.
    Signal(u32, u32),
    /// Ping.
    Pulse,
    /// Query whether a process listens at a TCP port: the node and the port.
    Listens(u32, u32),
}

/// Specification of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSpec {
    /// Name of the interface in the node.
    pub interface: String,
    /// IPv4 address.
    pub v4: Ipv4Addr,
    /// IPv6 address.
    pub v6: Ipv6Addr,
    /// Congestion control of the node's connections; empty for the default of the namespace.
    pub control: String,
    /// Use of ECN (`tcp_ecn`): 0 never, 1 requested and accepted, 2 accepted.
    pub ecn: u32,
    /// Limit of TCP Small Queues in bytes (`tcp_limit_output_bytes`); 0 keeps the default.
    pub output_limit: u32,
    /// Backpressure mechanism.
    pub backpressure: Backpressure,
    /// True if the device is an Ethernet pair instead of a TUN device.
    pub pair: bool,
    /// True if the kernel may leave the segmentation of datagrams to the lab (USO).
    pub udp: bool,
}

/// Specification of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSpec {
    /// Number of the program in later messages.
    pub id: u32,
    /// Index of the node, in the order of creation.
    pub node: u32,
    /// True if the program gets its own process group.
    pub own_group: bool,
    /// Host name that the program sees.
    pub host_name: String,
    /// Soft limit of open files.
    pub open_files: u32,
    /// The program and its arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Environment variables in addition to those of the helper.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Reply or event from the helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The helper is isolated. Contains whether it runs in a user namespace, and notes about unavailable features.
    Hello(bool, Vec<String>),
    /// The node was created. Its device, network namespace, netlink socket and raw socket are attached.
    Node(NodeInfo),
    /// Result of the probe.
    Probed(Probe),
    /// The request succeeded.
    Done,
    /// The request failed: errno (0 if there is none), the feature that it needs, and the failed operation.
    Failed(u32, Requirement, String),
    /// A program exited: its number, and its status or the signal that killed it.
    Ended(u32, Result<u32, u32>),
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeInfo {
    /// Interface index.
    pub index: u32,
    /// True if the kernel leaves the segmentation of datagrams to the lab.
    pub segments_udp: bool,
    /// Backpressure mechanism in use.
    pub backpressure: Backpressure,
    /// Notes about unavailable features.
    pub notes: Vec<String>,
}

impl Request {
    /// Encodes the request.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut to = Writer(Vec::new());
        match self {
            Request::Node(node) => {
                to.byte(1);
                to.text(node.interface.as_bytes());
                to.text(&node.v4.octets());
                to.text(&node.v6.octets());
                to.text(node.control.as_bytes());
                to.number(node.ecn);
                to.number(node.output_limit);
                to.backpressure(node.backpressure);
                to.byte(u8::from(node.pair));
                to.byte(u8::from(node.udp));
            }
            Request::Names(lines) => {
                to.byte(2);
                to.text(lines.as_bytes());
            }
            Request::Probe => to.byte(5),
            Request::Pulse => to.byte(6),
            Request::Listens(node, port) => {
                to.byte(7);
                to.number(*node);
                to.number(*port);
            }
            Request::Run(run) => {
                to.byte(3);
                to.number(run.id);
                to.number(run.node);
                to.byte(u8::from(run.own_group));
                to.text(run.host_name.as_bytes());
                to.number(run.open_files);
                to.number(run.arguments.len() as u32);
                run.arguments.iter().for_each(|argument| to.text(argument));
                to.number(run.environment.len() as u32);
                for (name, value) in &run.environment {
                    to.text(name);
                    to.text(value);
                }
            }
            Request::Signal(id, signal) => {
                to.byte(4);
                to.number(*id);
                to.number(*signal);
            }
        }
        to.0
    }

    /// Decodes a request; `None` if the bytes are invalid.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Request> {
        let mut from = Reader(bytes);
        let request = match from.byte()? {
            1 => Request::Node(NodeSpec {
                interface: from.string()?,
                v4: Ipv4Addr::from(<[u8; 4]>::try_from(from.text()?).ok()?),
                v6: Ipv6Addr::from(<[u8; 16]>::try_from(from.text()?).ok()?),
                control: from.string()?,
                ecn: from.number()?,
                output_limit: from.number()?,
                backpressure: from.backpressure()?,
                pair: from.flag()?,
                udp: from.flag()?,
            }),
            2 => Request::Names(from.string()?),
            3 => Request::Run(ProcessSpec {
                id: from.number()?,
                node: from.number()?,
                own_group: from.flag()?,
                host_name: from.string()?,
                open_files: from.number()?,
                arguments: from.list(|from| Some(from.text()?.to_vec()))?,
                environment: from.list(|from| Some((from.text()?.to_vec(), from.text()?.to_vec())))?,
            }),
            4 => Request::Signal(from.number()?, from.number()?),
            5 => Request::Probe,
            6 => Request::Pulse,
            7 => Request::Listens(from.number()?, from.number()?),
            _ => return None,
        };
        from.0.is_empty().then_some(request)
    }
}

impl Answer {
    /// Encodes the answer.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let mut to = Writer(Vec::new());
        match self {
            Answer::Hello(user, notes) => {
                to.byte(1);
                to.byte(u8::from(*user));
                to.texts(notes);
            }
            Answer::Node(node) => {
                to.byte(2);
                to.number(node.index);
                to.byte(u8::from(node.segments_udp));
                to.backpressure(node.backpressure);
                to.texts(&node.notes);
            }
            Answer::Probed(probe) => {
                to.byte(6);
                to.number(probe.outstanding);
                to.number(probe.dropped);
            }
            Answer::Done => to.byte(3),
            Answer::Failed(number, needs, what) => {
                to.byte(4);
                to.number(*number);
                to.byte(*needs as u8);
                to.text(what.as_bytes());
            }
            Answer::Ended(id, how) => {
                to.byte(5);
                to.number(*id);
                to.byte(u8::from(how.is_ok()));
                let (Ok(number) | Err(number)) = *how;
                to.number(number);
            }
            Answer::Stopped(id) => {
                to.byte(7);
                to.number(*id);
            }
            Answer::Continued(id) => {
                to.byte(8);
                to.number(*id);
            }
            Answer::Pulse => to.byte(9),
            Answer::Listens(listens) => {
                to.byte(10);
                to.byte(u8::from(*listens));
            }
        }
        to.0
    }

    /// Decodes an answer; `None` if the bytes are invalid.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Answer> {
        let mut from = Reader(bytes);
        let answer = match from.byte()? {
            1 => Answer::Hello(from.flag()?, from.list(Reader::string)?),
            2 => Answer::Node(NodeInfo {
                index: from.number()?,
                segments_udp: from.flag()?,
                backpressure: from.backpressure()?,
                notes: from.list(Reader::string)?,
            }),
            3 => Answer::Done,
            6 => Answer::Probed(Probe {
                outstanding: from.number()?,
                dropped: from.number()?,
            }),
            4 => {
                let number = from.number()?;
                let needs = *Requirement::ALL.get(usize::from(from.byte()?))?;
                Answer::Failed(number, needs, from.string()?)
            }
            5 => {
                let (id, exited, number) = (from.number()?, from.flag()?, from.number()?);
                Answer::Ended(id, if exited { Ok(number) } else { Err(number) })
            }
            7 => Answer::Stopped(from.number()?),
            8 => Answer::Continued(from.number()?),
            9 => Answer::Pulse,
            10 => Answer::Listens(from.flag()?),
            _ => return None,
        };
        from.0.is_empty().then_some(answer)
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, number: u32) {
        self.0.extend(number.to_ne_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text);
    }

    fn backpressure(&mut self, backpressure: Backpressure) {
        self.byte(
            Backpressure::ALL
                .iter()
                .position(|one| *one == backpressure)
                .unwrap_or(0) as u8,
        );
    }

    fn texts(&mut self, texts: &[String]) {
        self.number(texts.len() as u32);
        texts.iter().for_each(|text| self.text(text.as_bytes()));
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn backpressure(&mut self) -> Option<Backpressure> {
        Backpressure::ALL.get(usize::from(self.byte()?)).copied()
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_ne_bytes(self.take(4)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.number()? as usize;
        self.take(length)
    }

    fn string(&mut self) -> Option<String> {
        String::from_utf8(self.text()?.to_vec()).ok()
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        // The allocation grows with the data received, not with the announced length.
        (0..self.number()?).map(|_| one(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoding_inverts_encoding() {
        let requests = [
            Request::Node(NodeSpec {
                interface: "wlan0".into(),
                v4: Ipv4Addr::new(198, 18, 1, 0),
                v6: Ipv6Addr::LOCALHOST,
                control: "cubic".into(),
                ecn: 2,
                output_limit: 5,
                backpressure: Backpressure::TunQueue,
                pair: false,
                udp: true,
            }),
            Request::Names("127.0.0.1 localhost\n".into()),
            Request::Run(ProcessSpec {
                id: 7,
                node: 1,
                own_group: true,
                host_name: "tv".into(),
                open_files: 1024,
                arguments: vec![b"ls".to_vec(), vec![0xff]],
                environment: vec![(b"A".to_vec(), b"".to_vec())],
            }),
            Request::Signal(7, 15),
            Request::Probe,
            Request::Pulse,
            Request::Listens(1, 5201),
        ];
        for request in requests {
            let bytes = request.write();
            assert_eq!(Request::read(&bytes), Some(request));
            assert_eq!(Request::read(&bytes[..bytes.len() - 1]), None);
        }
        let answers = [
            Answer::Hello(true, vec!["no /proc".into()]),
            Answer::Node(NodeInfo {
                index: 2,
                segments_udp: true,
                backpressure: Backpressure::None,
                notes: vec![],
            }),
            Answer::Done,
            Answer::Probed(Probe {
                outstanding: 38_400,
                dropped: 0,
            }),
            Answer::Failed(13, Requirement::TunDevice, "open".into()),
            Answer::Ended(7, Ok(1)),
            Answer::Ended(7, Err(9)),
            Answer::Stopped(7),
            Answer::Continued(7),
            Answer::Pulse,
            Answer::Listens(true),
        ];
        for answer in answers {
            assert_eq!(Answer::read(&answer.write()), Some(answer));
        }
    }
}
