//! What the lab and its helper say to each other: a byte for the kind, then numbers (4 bytes, the machine's order) and strings (their
//! length before them). Each is one message of a socket that keeps their bounds, with the files that belong to it.

use crate::hold::{Hold, Probe};
use std::net::{Ipv4Addr, Ipv6Addr};

/// What the helper is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Make a node: a network namespace and a device.
    Node(NodeWanted),
    /// Have these lines be /etc/hosts.
    Names(String),
    /// Find out whether a full TUN device stops the queue before it.
    Probe,
    /// Run a program at a node; its standard input, output and error travel along.
    Run(RunWanted),
    /// Send a signal to what runs under this number.
    Signal(u32, u32),
    /// Say that it is there.
    Pulse,
    /// Say whether something listens at this node's TCP port.
    Listens(u32, u32),
}

/// A node to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeWanted {
    /// What the interface is called inside.
    pub interface: String,
    /// Its address.
    pub v4: Ipv4Addr,
    /// Its address.
    pub v6: Ipv6Addr,
    /// The congestion control of its connections; empty: the namespace's.
    pub control: String,
    /// What TCP Small Queues are capped at, in bytes (`tcp_limit_output_bytes`); 0: as it is.
    pub output_limit: u32,
    /// How it is kept from handing over all that it has.
    pub hold: Hold,
    /// Whether it is to be an Ethernet pair in the place of a TUN device.
    pub pair: bool,
    /// Whether its kernel may leave the segmentation of datagrams to us.
    pub udp: bool,
}

/// A program to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunWanted {
    /// What its end will be told under.
    pub id: u32,
    /// The node, in the order in which they were made.
    pub node: u32,
    /// Whether it gets a process group of its own.
    pub own_group: bool,
    /// The machine's name as it sees it.
    pub host_name: String,
    /// The soft limit of open files that it gets.
    pub open_files: u32,
    /// The program and its arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Variables beyond those that the helper has.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
}

/// What the helper says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It is there, and isolated; whether inside a user namespace, and what it could not do.
    Hello(bool, Vec<String>),
    /// The node was made. Its device, network namespace, route and raw socket travel along.
    Node(NodeMade),
    /// What came of the probe.
    Probed(Probe),
    /// It was done.
    Done,
    /// It can't be done: the error's number (0: none), and what was tried.
    Failed(u32, String),
    /// What ran under this number has ended, with this status or by this signal.
    Ended(u32, Result<u32, u32>),
    /// A signal stopped what runs under this number.
    Stopped(u32),
    /// A signal let continue what runs under this number.
    Continued(u32),
    /// It is there.
    Pulse,
    /// Whether something listens there.
    Listens(bool),
}

/// A node that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeMade {
    /// The number of its interface.
    pub index: u32,
    /// Whether its kernel leaves the segmentation of datagrams to us.
    pub segments_udp: bool,
    /// How it is held back.
    pub hold: Hold,
    /// What could not be done.
    pub notes: Vec<String>,
}

impl Request {
    /// As bytes.
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
                to.number(node.output_limit);
                to.hold(node.hold);
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

    /// From bytes.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Request> {
        let mut from = Reader(bytes);
        let request = match from.byte()? {
            1 => Request::Node(NodeWanted {
                interface: from.string()?,
                v4: Ipv4Addr::from(<[u8; 4]>::try_from(from.text()?).ok()?),
                v6: Ipv6Addr::from(<[u8; 16]>::try_from(from.text()?).ok()?),
                control: from.string()?,
                output_limit: from.number()?,
                hold: from.hold()?,
                pair: from.flag()?,
                udp: from.flag()?,
            }),
            2 => Request::Names(from.string()?),
            3 => Request::Run(RunWanted {
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
    /// As bytes.
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
                to.hold(node.hold);
                to.texts(&node.notes);
            }
            Answer::Probed(probe) => {
                to.byte(6);
                to.number(probe.outstanding);
                to.number(probe.dropped);
            }
            Answer::Done => to.byte(3),
            Answer::Failed(number, what) => {
                to.byte(4);
                to.number(*number);
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

    /// From bytes.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Option<Answer> {
        let mut from = Reader(bytes);
        let answer = match from.byte()? {
            1 => Answer::Hello(from.flag()?, from.list(Reader::string)?),
            2 => Answer::Node(NodeMade {
                index: from.number()?,
                segments_udp: from.flag()?,
                hold: from.hold()?,
                notes: from.list(Reader::string)?,
            }),
            3 => Answer::Done,
            6 => Answer::Probed(Probe {
                outstanding: from.number()?,
                dropped: from.number()?,
            }),
            4 => Answer::Failed(from.number()?, from.string()?),
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

    fn hold(&mut self, hold: Hold) {
        self.byte(Hold::ALL.iter().position(|one| *one == hold).unwrap_or(0) as u8);
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

    fn hold(&mut self) -> Option<Hold> {
        Hold::ALL.get(usize::from(self.byte()?)).copied()
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
        // Grows with what is there, not with what was announced.
        (0..self.number()?).map(|_| one(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let requests = [
            Request::Node(NodeWanted {
                interface: "wlan0".into(),
                v4: Ipv4Addr::new(198, 18, 1, 0),
                v6: Ipv6Addr::LOCALHOST,
                control: "cubic".into(),
                output_limit: 5,
                hold: Hold::Ring,
                pair: false,
                udp: true,
            }),
            Request::Names("127.0.0.1 localhost\n".into()),
            Request::Run(RunWanted {
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
            Answer::Node(NodeMade {
                index: 2,
                segments_udp: true,
                hold: Hold::Nothing,
                notes: vec![],
            }),
            Answer::Done,
            Answer::Probed(Probe {
                outstanding: 38_400,
                dropped: 0,
            }),
            Answer::Failed(13, "open".into()),
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
