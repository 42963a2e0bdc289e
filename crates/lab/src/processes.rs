//! Programs at a node, and the program that owns a connection, from /proc.

use netburn_lab_kernel::sockets;
use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Returns the /proc directories of the processes in a network namespace. Processes of other users are not included.
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

/// Returns the name of a process: the file name of its program, up to 15 characters, unless the process has changed it.
fn name(process: &Path) -> Option<String> {
    let name = fs::read_to_string(process.join("comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Returns the names of the processes in a network namespace.
pub(crate) fn names(namespace: BorrowedFd<'_>) -> Vec<String> {
    processes(namespace)
        .iter()
        .filter_map(|process| name(process))
        .collect()
}

/// Returns the name of the process that is opening a connection from port `from` to `port`, if there is one.
pub(crate) fn client_program(namespace: BorrowedFd<'_>, from: u16, port: u16) -> Option<String> {
    let processes = processes(namespace);
    let all = processes
        .iter()
        .find_map(|process| sockets::tcp_sockets_in(&process.join("net")).ok())?;
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
