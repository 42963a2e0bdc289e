//! Installation of netburn: over SSH, and as a service of this machine or of its user.
//!
//! Modules, from the top:
//!
//! - [`remote`] – copying a binary to a machine and starting its agent. [`elf`]: the machine that a binary is for.
//! - [`install`] – an agent as a service of systemd or procd.
//! - [`login`] – diagnosis of slow SSH logins.
//! - [`ssh`] – the system's OpenSSH client.

pub mod elf;
pub mod install;
pub mod login;
pub mod remote;
pub mod ssh;

/// Environment variable with the address for `netburn fleet join`. Unlike arguments, other users can't read it.
pub const ENVIRONMENT: &str = "NETBURN_FLEET_URL";
