//! The programs that are at an end, and which of them a connection is of, as /proc tells.

use netburn_linux::sockets;
use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// The processes in a network namespace, by their folders in /proc. Those of other users are left out.
fn processes(namespace: BorrowedFd<'_>) -> Vec<PathBuf> {
    let own = fs::read_link(format!("/proc/self/fd/{}", namespace.as_raw_fd()));
    let (Ok(own), Ok(all)) = (own, fs::read_dir("/proc")) else {
        return Vec::new();
    };
    let folders = all.filter_map(|entry| Some(entry.ok()?.path()));
    folders
        .filter(|folder| fs::read_link(folder.join("ns/net")).is_ok_and(|namespace| namespace == own))
        .collect()
}

/// The name of a process: its program's file name, up to 15 characters, unless it has chosen another.
fn name(process: &Path) -> Option<String> {
    let name = fs::read_to_string(process.join("comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// The names of the processes in a network namespace.
pub(crate) fn names(namespace: BorrowedFd<'_>) -> Vec<String> {
    processes(namespace)
        .iter()
        .filter_map(|process| name(process))
        .collect()
}

/// The name of the process that asks for a connection from a port to another; `None` when none does.
pub(crate) fn caller(namespace: BorrowedFd<'_>, from: u16, port: u16) -> Option<String> {
    let processes = processes(namespace);
    let all = processes
        .iter()
        .find_map(|process| sockets::tcp_below(&process.join("net")).ok())?;
    let asks = |socket: &&sockets::TcpSocket| socket.asks() && socket.local_port == from && socket.remote_port == port;
    let inode = all.iter().find(asks)?.inode;
    let socket = format!("socket:[{inode}]");
    let has = |process: &&PathBuf| {
        let files = fs::read_dir(process.join("fd"))
            .into_iter()
            .flatten()
            .filter_map(Result::ok);
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|file| file == Path::new(&socket))
    };
    name(processes.iter().find(has)?)
}
