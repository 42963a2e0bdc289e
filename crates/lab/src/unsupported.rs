//! Stub for systems other than Linux. [`Lab`] and [`LabProcess`] have no values, so their methods are never called.

use crate::backpressure::Backpressure;
use crate::device_kind::DeviceKind;
use crate::error::LabError;
use crate::observe::StationSnapshot;
use crate::options::Options;
use crate::program::{ProcessExit, Program};
use crate::refused_connections::{RefusalReply, RefusedConnection};
use crate::switch::ForwardingCounters;
use netburn_network::Endpoint;
use netburn_platform::Monotonic;
use netburn_record::{LabHealth, Row};
use netburn_scenario::Plan;
use netburn_scenario::plan::Setting;
use netburn_units::Instant;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::Sender;

/// Options for starting a lab's network.
#[derive(Debug, Default)]
pub struct StartOptions<'a> {
    /// Directory for captures.
    pub captures: Option<&'a Path>,
    /// Receiver of refused connections.
    pub refusals: Option<Sender<RefusedConnection>>,
}

/// A lab. It has no values on this system.
#[derive(Debug)]
pub enum Lab {}

/// A program in a lab. It has no values on this system.
#[derive(Debug)]
pub enum LabProcess {}

#[expect(missing_docs, reason = "they are the other ones' names, and can't be called")]
impl Lab {
    /// Returns an error.
    ///
    /// # Errors
    /// [`LabError::Unsupported`], always.
    pub fn open(_: &Plan, _: Command) -> Result<Lab, LabError> {
        Err(LabError::Unsupported)
    }

    /// Returns an error.
    ///
    /// # Errors
    /// [`LabError::Unsupported`], always.
    pub fn open_with(_: &Plan, _: Command, _: &Options) -> Result<Lab, LabError> {
        Err(LabError::Unsupported)
    }

    pub const fn device(&self) -> DeviceKind {
        match *self {}
    }

    pub const fn backpressure(&self) -> Backpressure {
        match *self {}
    }

    pub const fn segments_udp(&self) -> bool {
        match *self {}
    }

    pub fn notes(&self) -> &[String] {
        match *self {}
    }

    pub fn start(&self, _: Monotonic) -> Result<(), LabError> {
        match *self {}
    }

    pub fn start_with(&self, _: Monotonic, _: StartOptions<'_>) -> Result<(), LabError> {
        match *self {}
    }

    pub fn reply(&self, _: RefusedConnection, _: RefusalReply) {
        match *self {}
    }

    pub fn listens(&self, _: Endpoint, _: u16) -> Result<bool, LabError> {
        match *self {}
    }

    pub fn client_program(&self, _: RefusedConnection) -> Option<String> {
        match *self {}
    }

    pub fn programs(&self, _: Endpoint) -> Vec<String> {
        match *self {}
    }

    pub fn captures_lost(&self) -> bool {
        match *self {}
    }

    pub fn set(&self, _: Setting) {
        match *self {}
    }

    pub fn names(&self) -> Vec<&str> {
        match *self {}
    }

    pub fn endpoint(&self, _: &str) -> Result<Endpoint, LabError> {
        match *self {}
    }

    pub fn spawn(&self, _: Endpoint, _: Program) -> Result<LabProcess, LabError> {
        match *self {}
    }

    pub fn nsenter_command(&self, _: Endpoint) -> String {
        match *self {}
    }

    pub fn take_rows(&self) -> Vec<Row> {
        match *self {}
    }

    pub fn snapshots(&self) -> (Option<Instant>, Vec<StationSnapshot>) {
        match *self {}
    }

    pub fn counters(&self) -> ForwardingCounters {
        match *self {}
    }

    pub fn health(&self) -> LabHealth {
        match *self {}
    }

    pub fn interfaces_down(&self) -> Vec<&str> {
        match *self {}
    }

    pub fn take_warnings(&self) -> Vec<String> {
        match *self {}
    }

    pub fn stop(&self) {
        match *self {}
    }

    pub fn failed(&self) -> Option<String> {
        match *self {}
    }
}

#[expect(missing_docs, reason = "they are the other one's names, and can't be called")]
impl LabProcess {
    pub fn ended(&self) -> Option<ProcessExit> {
        match *self {}
    }

    pub fn wait(&self) -> ProcessExit {
        match *self {}
    }

    pub fn when_ended(&self, _: impl FnOnce(ProcessExit) + Send + 'static) {
        match *self {}
    }

    pub fn signal(&self, _: i32) {
        match *self {}
    }
}

/// The helper process, which is never started on this system.
pub mod init {
    /// Returns the exit status of the helper.
    #[must_use]
    pub fn main() -> i32 {
        2
    }
}
