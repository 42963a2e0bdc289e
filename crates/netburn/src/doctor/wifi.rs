//! The Wi-Fi interfaces of this machine, and a recording of the data of their drivers.

use super::Finding;
use crate::exit::{CliError, ExitStatus};
use crate::runtime;
use crate::signals::Signals;
use crate::terminal::eprint_message;
use netburn_platform::wifi::nl80211::anonymizer::Anonymizer;
use netburn_platform::wifi::nl80211::decode::{self, JOINS};
use netburn_platform::wifi::nl80211::recording::{Entry, Kind, heading};
use netburn_platform::wifi::nl80211::{Events, Nl80211};
use netburn_platform::wifi::{Interface, Station};
use netburn_report::sanitise::sanitise;
use netburn_units::Duration;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

/// Prints all interfaces, one after the other.
pub(super) fn interfaces() -> Finding {
    let (ok, found) = match open() {
        Ok((mut wifi, interfaces)) => {
            let each: Vec<String> = interfaces.iter().map(|one| described(&mut wifi, one)).collect();
            (true, each.join("; "))
        }
        Err(why) => (false, format!("{why}; agents record no Wi-Fi facts")),
    };
    Finding {
        name: "Wi-Fi",
        ok,
        found,
        remedy: None,
    }
}

fn described(wifi: &mut Nl80211, interface: &Interface) -> String {
    let joined = match (&interface.ssid, interface.channel) {
        (Some(ssid), Some(channel)) => {
            let ssid = sanitise(&String::from_utf8_lossy(ssid));
            format!("in `{ssid}` at {} MHz", channel.frequency_mhz)
        }
        _ if interface.kind == Some(JOINS) => "in no network".to_owned(),
        _ => "is not a client interface".to_owned(),
    };
    let surveys = wifi.sample(interface.index).into_iter();
    let mut surveys = surveys.filter(|(kind, _)| *kind == Kind::Survey);
    let survey = if surveys.any(|(_, answer)| decode::surveys(&answer).iter().any(|one| one.busy_ms.is_some())) {
        "reports the use of its channel"
    } else {
        "does not report the use of its channel"
    };
    format!("{} {joined}, {survey}", sanitise(&interface.name))
}

/// The netlink socket and the interfaces, if there are any.
fn open() -> Result<(Nl80211, Vec<Interface>), String> {
    let mut wifi = Nl80211::open().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "this kernel has no Wi-Fi".to_owned(),
        io::ErrorKind::Unsupported => "netburn does not read Wi-Fi drivers on this system".to_owned(),
        _ => format!("the kernel can't be queried: {error}"),
    })?;
    let interfaces = wifi
        .interfaces()
        .map_err(|error| format!("the kernel can't be queried: {error}"))?;
    if interfaces.is_empty() {
        Err("this machine has no Wi-Fi interface".to_owned())
    } else {
        Ok((wifi, interfaces))
    }
}

/// Records the data of the drivers once per second until a signal.
pub(super) fn record(path: &Path, with_names: bool) -> Result<ExitStatus, CliError> {
    let (wifi, interfaces) = open().map_err(|why| CliError::Failed(format!("nothing to record: {why}")))?;
    let events = wifi
        .events()
        .map_err(|error| CliError::Failed(format!("the kernel can't be listened to: {error}")))?;
    let file =
        std::fs::File::create_new(path).map_err(|error| CliError::Usage(format!("{}: {error}", path.display())))?;
    let runtime = runtime::here()?;
    let (stop, stopped) = std::sync::mpsc::channel();
    let mut recorder = Recorder {
        wifi,
        events,
        interfaces,
        anonymous: (!with_names).then(Anonymizer::default),
        file: io::BufWriter::new(file),
        began: Instant::now(),
        entries: 0,
    };
    eprint_message("recording, until Ctrl-C; move about, roam, do what is odd");
    let recorded = runtime.block_on(async {
        let mut signals = Signals::new()?;
        let recording = tokio::task::spawn_blocking(move || {
            recorder.run(&stopped)?;
            Ok::<u64, io::Error>(recorder.entries)
        });
        let mut recording = std::pin::pin!(recording);
        tokio::select! {
            _ = signals.next() => {}
            ended = &mut recording => return ended.map_err(io::Error::other)?,
        }
        drop(stop);
        recording.await.map_err(io::Error::other)?
    });
    let count = recorded.map_err(|error| CliError::Failed(format!("{}: {error}", path.display())))?;
    let names = if with_names {
        "with the names and addresses of these networks"
    } else {
        "without names and addresses"
    };
    eprint_message(&format!("{count} messages in {}, {names}", path.display()));
    Ok(ExitStatus::Success)
}

struct Recorder {
    wifi: Nl80211,
    events: Events,
    interfaces: Vec<Interface>,
    anonymous: Option<Anonymizer>,
    file: io::BufWriter<std::fs::File>,
    began: Instant,
    entries: u64,
}

impl Recorder {
    fn run(&mut self, stopped: &std::sync::mpsc::Receiver<()>) -> io::Result<()> {
        self.file.write_all(heading().as_bytes())?;
        let mut due = Instant::now();
        // The other end is dropped to end it.
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            if Instant::now() >= due {
                due += std::time::Duration::from_secs(1);
                self.look()?;
                self.file.flush()?;
            }
            if let Some(datagram) = self.events.next(Duration::from_millis(100))? {
                self.put(Kind::Event, &datagram)?;
            }
        }
        self.file.flush()
    }

    fn look(&mut self) -> io::Result<()> {
        for (kind, datagram) in sample(&mut self.wifi, &self.interfaces) {
            self.put(kind, &datagram)?;
        }
        Ok(())
    }

    fn put(&mut self, kind: Kind, datagram: &[u8]) -> io::Result<()> {
        let datagram = without_names(self.anonymous.as_mut(), datagram);
        self.entries += 1;
        let at = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.file.write_all(Entry { at, kind, datagram }.line().as_bytes())
    }
}

/// The present data of the interfaces.
fn sample(wifi: &mut Nl80211, interfaces: &[Interface]) -> Vec<(Kind, Vec<u8>)> {
    interfaces
        .iter()
        .flat_map(|interface| wifi.sample(interface.index))
        .collect()
}

fn without_names(anonymizer: Option<&mut Anonymizer>, datagram: &[u8]) -> Vec<u8> {
    match anonymizer {
        Some(anonymizer) => anonymizer.datagram(datagram),
        None => datagram.to_vec(),
    }
}

/// The present data of the drivers: a recording, and the peers of all interfaces.
pub(super) fn snapshot(mut anonymizer: Option<&mut Anonymizer>) -> Result<(String, Vec<Station>), String> {
    let (mut wifi, interfaces) = open()?;
    let mut recording = heading();
    let mut stations = Vec::new();
    for (kind, datagram) in sample(&mut wifi, &interfaces) {
        let datagram = without_names(anonymizer.as_deref_mut(), &datagram);
        if kind == Kind::Station {
            stations.extend(decode::stations(&datagram));
        }
        recording += &Entry { at: 0, kind, datagram }.line();
    }
    Ok((recording, stations))
}
